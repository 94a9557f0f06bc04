import ResourceValues
import SystemPackage

extension Snapshot {
    /// The most paths that are kept of a snapshot by another program.
    private static let pathLimit = 100

    /// Parses an object from the array that `restic snapshots --json` prints.
    init(json bytes: ArraySlice<UInt8>) throws(JSONError) {
        var fields = Fields()
        var scanner = JSONScanner(bytes)
        try scanner.forEachField { scanner, name throws(JSONError) in
            try fields.read(name, &scanner)
        }
        let identifiers = [fields.identifier, fields.tree] + (fields.original.map { [$0] } ?? [])
        guard let time = FileTime(rfc3339: fields.time),
            identifiers.allSatisfy(\.isResticIdentifier)
        else { throw JSONError(offset: 0) }
        // The record file is not one of the SOURCEs.
        let record = RecordPath(tags: fields.tags, sources: [])?.path
        self.init(
            identifier: fields.identifier, originalIdentifier: fields.original, time: time,
            timeOffset: FileTime.offset(inRFC3339: fields.time) ?? 0, hostName: fields.hostName,
            userName: fields.userName, allTags: fields.tags,
            paths: fields.paths.filter { $0.bytes != record }, root: fields.tree,
            hasRecord: record != nil)
    }

    private struct Fields {
        var identifier = ""
        var original: String?
        var time: [UInt8] = []
        var hostName = ""
        var userName = ""
        var tree = ""
        var tags: [String] = []
        var paths: [FilePath] = []

        mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
            switch name {
            case "id": identifier = try scanner.text()
            case "original": original = try scanner.text()
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
