import ResourceValuesFoundation

/// `url-keys library|foundation DIRECTORY ROUNDS`
///
/// Measures what a program pays for two keys of a file's URL, through this package or through
/// Foundation: reads isExcludedFromBackup and fileSize of every file in DIRECTORY, ROUNDS times over.
///
/// Prints one line: nanoseconds per URL, how many sizes were answered, and how many of the files were
/// said to be excluded. URLs are made before the clock starts.
func runURLKeys(_ arguments: [String]) throws {
    guard arguments.count == 3, ["library", "foundation"].contains(arguments[0]),
        let rounds = Int(arguments[2]), rounds > 0
    else {
        print("usage: url-keys library|foundation DIRECTORY ROUNDS")
        throw CocoaError(.keyValueValidation)
    }
    let ask = arguments[0] == "library" ? askLibrary : askFoundation
    let directory = URL(fileURLWithPath: arguments[1], isDirectory: true)
    let urls = try FileManager.default.contentsOfDirectory(
        at: directory, includingPropertiesForKeys: [])
    var answers = Answers()
    let elapsed = try ContinuousClock().measure {
        for _ in 0..<rounds { try ask(urls, &answers) }
    }
    let nanoseconds = elapsed / .nanoseconds(1) / Double(urls.count * rounds)
    print(nanoseconds, answers.sizes, answers.excluded)
}

private struct Answers {
    var sizes = 0
    var excluded = 0

    mutating func add(size: Int?, isExcluded: Bool?) {
        if size != nil { sizes += 1 }
        if isExcluded == true { excluded += 1 }
    }
}

private func askLibrary(_ urls: [URL], _ answers: inout Answers) throws {
    for url in urls {
        let values = try url.resourceValues(forKeys: [.isExcludedFromBackupKey, .fileSizeKey])
        answers.add(size: values.fileSize, isExcluded: values.isExcludedFromBackup)
    }
}

/// The set is made beforehand, which spares Foundation what a literal would cost it each time.
private let foundationKeys: Set<Foundation.URLResourceKey> = [
    .isExcludedFromBackupKey, .fileSizeKey,
]

private func askFoundation(_ urls: [URL], _ answers: inout Answers) throws {
    for url in urls {
        let values: Foundation.URLResourceValues = try url.resourceValues(forKeys: foundationKeys)
        answers.add(size: values.fileSize, isExcluded: values.isExcludedFromBackup)
    }
}
