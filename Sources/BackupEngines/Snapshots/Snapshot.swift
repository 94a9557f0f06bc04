import ResourceValues
import SystemPackage

/// A snapshot in a repository.
package struct Snapshot: Sendable, Hashable {
    /// The identifier: 64 hexadecimal digits.
    package let identifier: String
    /// When it was made.
    package let time: FileTime
    /// The name of the machine it was made on.
    package let hostName: String
    /// The name of the user who made it.
    package let userName: String
    /// The tags users gave it.
    package let tags: [String]
    /// What was backed up. For a snapshot of another program the paths it tells, where bytes that
    /// are not UTF-8 are lost.
    package let sources: [FilePath]
    /// The tag for the set of SOURCEs; nil for a snapshot of another program.
    package let sourceSet: String?
    /// The identifier of the root's tree.
    let tree: String

    /// The first digits of the identifier, enough for people.
    package var shortIdentifier: String { String(identifier.prefix(8)) }

    /// The most paths that are kept of another program's snapshot.
    private static let pathLimit = 100

    /// Reads an object of `restic snapshots --json`.
    init(json bytes: ArraySlice<UInt8>) throws(JSONError) {
        var fields = Fields()
        var scanner = JSONScanner(bytes)
        try scanner.forEachField { scanner, name throws(JSONError) in
            try fields.read(name, &scanner)
        }
        guard let time = FileTime(rfc3339: fields.time), !fields.identifier.isEmpty else {
            throw JSONError(offset: 0)
        }
        self.time = time
        identifier = fields.identifier
        hostName = fields.hostName
        userName = fields.userName
        tree = fields.tree
        tags = fields.tags.filter { !SourceTags.isReserved($0) }
        sourceSet = SourceTags.set(in: fields.tags)
        let tagged = SourceTags.sources(in: fields.tags)
        sources = tagged.isEmpty ? fields.paths : tagged
    }

    private struct Fields {
        var identifier = ""
        var time: [UInt8] = []
        var hostName = ""
        var userName = ""
        var tree = ""
        var tags: [String] = []
        var paths: [FilePath] = []

        mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
            switch name {
            case "id": identifier = try scanner.text()
            case "time": time = try scanner.string()
            case "hostname": hostName = try scanner.text()
            case "username": userName = try scanner.text()
            case "tree": tree = try scanner.text()
            case "tags":
                try scanner.forEachElement { scanner throws(JSONError) in
                    tags.append(try scanner.text())
                }
            case "paths":
                try scanner.forEachElement { scanner throws(JSONError) in
                    guard paths.count < Snapshot.pathLimit else { return }
                    paths.append(FilePath(bytes: try scanner.string()))
                }
            default: break
            }
        }
    }
}
