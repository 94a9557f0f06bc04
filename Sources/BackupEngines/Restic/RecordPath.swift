import SystemCalls
import SystemPackage

/// Where restic keeps a snapshot's record: as one more file of the snapshot, whose path a tag tells.
struct RecordPath: Sendable, Hashable {
    /// The file's absolute path.
    let path: [UInt8]
    private let sources: [[UInt8]]

    private static let prefix = "resval-record="

    /// The tag that tells a path.
    static func tag(_ path: FilePath) -> String { prefix + percentEncoded(path.bytes) }

    /// Finds the tag among others; nil for a snapshot without a record.
    init?(tags: [String], sources: [FilePath]) {
        guard let tag = tags.first(where: { $0.hasPrefix(Self.prefix) }) else { return nil }
        path = percentDecoded(tag.dropFirst(Self.prefix.count))
        self.sources = sources.map(\.bytes)
    }

    /// Whether a path is in the snapshot for the record's sake only: the file, and the directories
    /// on the way to it that are not the SOURCEs' too.
    func hides(_ other: [UInt8]) -> Bool {
        if other == path { return true }
        guard isHeld(path, by: other) else { return false }
        return !sources.contains { isHeld(other, by: $0) || isHeld($0, by: other) }
    }

    /// The highest path that is hidden with all below it.
    var top: [UInt8] {
        for end in path.indices.dropFirst() where path[end] == UInt8(ascii: "/") {
            let directory = Array(path[..<end])
            if hides(directory) { return directory }
        }
        return path
    }
}

extension Snapshot {
    /// Where its record is.
    var recordPath: RecordPath? { RecordPath(tags: allTags, sources: sources) }
}
