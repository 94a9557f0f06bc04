import ResourceValuesDropIn

/// The guide's three fragments; it names all of their items `url`.
struct Protection {
    let data = Data("secret".utf8)

    func write(_ url: URL) throws {
        try data.write(to: url, options: .completeFileProtection)
    }

    func create(_ url: URL) throws {
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.protectionKey: FileProtectionType.complete]
        )
    }

    func check(_ url: URL) throws {
        let values = try url.resourceValues(forKeys: [.fileProtectionKey])
        print("保护级别:\(values.fileProtection ?? .none)")
    }
}

/// `protection FILE DIRECTORY`: creates both with a class, and prints it.
func runProtection(_ arguments: [String]) throws {
    let (file, directory) = (URL(fileURLWithPath: arguments[0]), URL(fileURLWithPath: arguments[1]))
    let protection = Protection()
    try protection.write(file)
    try protection.create(directory)
    try protection.check(file)
    try protection.check(directory)
}

struct ProtectionOptions {
    let sensitiveData = Data("secret".utf8)
    let fileURL: URL
    let secureDirectoryURL: URL

    func run() throws {
        try sensitiveData.write(to: fileURL, options: .completeFileProtection)
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.complete],
            ofItemAtPath: fileURL.path
        )
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.complete],
            ofItemAtPath: secureDirectoryURL.path
        )
    }
}

/// `protection-options FILE DIRECTORY`: protects both, and writes a file into the directory.
func runProtectionOptions(_ arguments: [String]) throws {
    let directory = URL(fileURLWithPath: arguments[1], isDirectory: true)
    try ProtectionOptions(
        fileURL: URL(fileURLWithPath: arguments[0]), secureDirectoryURL: directory
    ).run()
    try Data("new".utf8).write(to: directory.appendingPathComponent("new"))
}

struct ProtectionSwitch {
    let fileURL: URL

    func run() throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: fileURL.path)
        if let protection = attributes[.protectionKey] as? FileProtectionType {
            switch protection {
            case .complete:
                print("File is fully protected")
            case .completeUnlessOpen:
                print("Protected unless already open")
            case .completeUntilFirstUserAuthentication:
                print("Protected until first unlock (default)")
            case .none:
                print("No encryption")
            default:
                break
            }
        }
    }
}

/// `protection-switch FILE...`: says what the class of each means.
func runProtectionSwitch(_ arguments: [String]) throws {
    for path in arguments { try ProtectionSwitch(fileURL: URL(fileURLWithPath: path)).run() }
}
