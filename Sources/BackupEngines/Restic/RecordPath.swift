import SystemCalls
import SystemPackage

/// Where restic keeps a snapshot's record: as one more file of the snapshot, whose path a tag tells.
struct RecordPath: Sendable, Hashable {
    /// The file's absolute path.
    let path: [UInt8]
    /// The directory that holds nothing but records; the file where it is in no such directory.
    let place: [UInt8]
    private let sources: [[UInt8]]

    private static let prefix = "resval-record="
    private static let nameStart = Array("resval-record-".utf8)

    /// The name of a record's file, of plain ASCII characters.
    ///
    /// - Parameter fingerprint: tells the set of SOURCEs: ``SourceTags/fingerprint``.
    static func fileName(_ fingerprint: String) -> String { "resval-record-\(fingerprint)" }

    /// The tag that tells a path.
    static func tag(_ path: FilePath) -> String { prefix + Percent.text(of: path.bytes) }

    /// Finds the tag among others; nil for a snapshot without a record.
    ///
    /// Every client of a repository can write such a tag. So it counts only when it names a file by an
    /// absolute path that leads down, and by a name that only records have.
    init?(tags: [String], sources: [FilePath]) {
        guard let tag = tags.first(where: { $0.hasPrefix(Self.prefix) }),
            let path = Percent.bytes(of: tag.utf8.dropFirst(Self.prefix.utf8.count)),
            let names = RelativePath(absolute: path)?.names, let name = names.last,
            name.starts(with: Self.nameStart)
        else { return nil }
        self.path = path
        let directory = names.dropLast().last ?? []
        place = Self.isRecordDirectory(directory) ? Array(path.dropLast(name.count + 1)) : path
        self.sources = sources.map(\.bytes)
    }

    /// The name of a user's directory for records.
    static func directoryName(_ user: UInt32) -> String { "resval-\(user)" }

    private static func isRecordDirectory(_ name: [UInt8]) -> Bool {
        let start = "resval-".utf8
        guard name.starts(with: start), let next = name.dropFirst(start.count).first else {
            return false
        }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next)
    }

    /// Whether a path is in the snapshot for the record's sake only: the file, its own directory, and
    /// the directories on the way to it that are not the SOURCEs' too.
    func hides(_ other: [UInt8]) -> Bool {
        if isHeld(other, by: place) { return true }
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
