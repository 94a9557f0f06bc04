import SystemCalls
import SystemPackage

/// The path of a snapshot's record in restic: an additional file of the snapshot, whose path is in
/// a tag.
struct RecordPath: Sendable, Hashable {
    /// The file's absolute path.
    let path: [UInt8]
    private let sources: [[UInt8]]

    private static let prefix = "resval-record="
    private static let nameStart = Array("resval-record-".utf8)

    /// Returns the name of a record's file, in plain ASCII.
    ///
    /// - Parameter identity: of what it is a record of.
    static func fileName(_ identity: String) -> String { "resval-record-\(identity)" }

    /// Returns the tag that contains a path.
    static func tag(_ path: FilePath) -> String { prefix + Percent.text(of: path.bytes) }

    /// Finds the path in a snapshot's tags; nil for a snapshot without a record.
    ///
    /// Every client of a repository can write such a tag, so it counts only when it contains a
    /// plain absolute path with a name that only records have.
    init?(tags: [String], sources: [FilePath]) {
        guard let tag = tags.first(where: { $0.hasPrefix(Self.prefix) }),
            let path = Percent.bytes(of: tag.utf8.dropFirst(Self.prefix.utf8.count)),
            let names = RelativePath(absolute: path)?.names, let name = names.last,
            name.starts(with: Self.nameStart)
        else { return nil }
        self.path = path
        self.sources = sources.map(\.bytes)
    }

    /// Whether a path is in the snapshot only because of the record: the file, and those directories above
    /// it that do not lead to a SOURCE as well.
    func hides(_ other: [UInt8]) -> Bool {
        if other == path { return true }
        guard isHeld(path, by: other) else { return false }
        return !sources.contains { isHeld(other, by: $0) || isHeld($0, by: other) }
    }

    /// The topmost path that is hidden with everything below it.
    var top: [UInt8] {
        for end in path.indices.dropFirst() where path[end] == UInt8(ascii: "/") {
            let directory = Array(path[..<end])
            if hides(directory) { return directory }
        }
        return path
    }
}

extension Snapshot {
    /// The path of its record; nil when it has none.
    var recordPath: RecordPath? { RecordPath(tags: allTags, sources: sources) }
}
