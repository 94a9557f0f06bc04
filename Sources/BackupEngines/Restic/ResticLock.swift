/// A lock in a repository.
struct ResticLock: Sendable, Hashable {
    /// The name of its file.
    let identifier: String
    /// The machine of the process that holds it.
    let hostName: String
    /// The number of that process on its machine.
    let processIdentifier: Int32

    /// Reads the object of `restic cat lock`.
    init(identifier: String, json: [UInt8]) throws(JSONError) {
        var hostName = ""
        var processIdentifier: Int64 = 0
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "hostname": hostName = try scanner.text()
            case "pid": processIdentifier = try scanner.integer()
            default: break
            }
        }
        guard let process = Int32(exactly: processIdentifier), process > 0 else {
            throw JSONError(offset: 0)
        }
        self.identifier = identifier
        self.hostName = hostName
        self.processIdentifier = process
    }
}
