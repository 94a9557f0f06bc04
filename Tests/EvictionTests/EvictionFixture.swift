import EffectiveValues
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Eviction

/// A file, and a journal elsewhere.
struct EvictionFixture {
    let root: FilePath
    let journal: Journal
    let content: [UInt8]
    var permissions: UInt16 = 0o640
    var modified = Self.modified

    var file: FilePath { root.appending("file") }

    static let modified = FileTime(seconds: 1_234_567_890, nanoseconds: 987_654_321)
    static let pinned = PinnedSnapshot(
        snapshot: "0123456789abcdef", tag: "resval-hold=1", repository: Array("/repository".utf8))
    static let name = EvictionRecord(
        repository: "fedcba9876543210", snapshot: pinned.snapshot, item: 0)

    /// Evicts the file.
    @discardableResult
    func evict(during: () -> Void = {}) throws -> Int64 {
        try evict(journal.candidate(at: file), during: during)
    }

    /// Evicts a file that was looked at before.
    ///
    /// - Parameter during: runs while the file is hashed.
    func evict(
        _ candidate: EvictionCandidate, content: [UInt8]? = nil, during: () -> Void = {}
    ) throws -> Int64 {
        try journal.evict(
            candidate, try #require(Self.name), pinned: Self.pinned,
            content: ContentHash(of: content ?? self.content)
        ) {
            during()
            return false
        }
    }

    /// What the repository tells of the file.
    func known(_ path: FilePath, dataBytes: Int64? = nil) throws -> EvictedFile {
        EvictedFile(
            path: file, identity: try path.status().identity, size: Int64(content.count),
            modified: modified, permissions: permissions,
            content: ContentHash(of: content), dataBytes: dataBytes, pinned: Self.pinned)
    }

    /// Begins to bring a file back; nil where it is whole.
    func begin(_ path: FilePath? = nil, dataBytes: Int64? = nil) throws -> Download? {
        let path = path ?? file
        return try Download.begin(
            at: path, try #require(Self.name), known(path, dataBytes: dataBytes), journal)
    }

    /// Brings a file back.
    func download(_ path: FilePath? = nil, content: [UInt8]? = nil) throws {
        guard let download = try begin(path) else { return }
        do {
            try feed(content ?? self.content, to: download)
            try download.finish()
        } catch {
            try download.abandon(because: EvictionError(error, at: download.path))
            throw error
        }
    }

    /// Hands content over in pieces.
    func feed(_ content: some Sequence<UInt8>, to download: Download) throws {
        var rest = Array(content)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(30_000))
            rest = rest.dropFirst(piece.count)
            try piece.withUnsafeBytes { try download.receive($0) }
        }
    }

    /// Whether the file is as it was at first, without a record, and the journal empty.
    func expectWhole(
        permissions: UInt16? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let status = try file.status()
        #expect(
            status.permissions == permissions ?? self.permissions, sourceLocation: sourceLocation)
        #expect(try contentsOfFile(file) == content, sourceLocation: sourceLocation)
        #expect(
            status.contentModificationTime == Self.modified, sourceLocation: sourceLocation)
        #expect(try file.evictionRecord() == nil, sourceLocation: sourceLocation)
        // Another user's journal cannot be read.
        let owner = try? journal.directory.status().owner
        guard owner == nil || owner == effectiveUser() else { return }
        #expect(try journal.contents().files.isEmpty, sourceLocation: sourceLocation)
    }

    /// Whether the file is a placeholder.
    func expectPlaceholder(
        _ path: FilePath? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let path = path ?? file
        let status = try path.status()
        #expect(status.permissions == 0, sourceLocation: sourceLocation)
        #expect(status.size == content.count, sourceLocation: sourceLocation)
        #expect(
            status.contentModificationTime == Self.modified, sourceLocation: sourceLocation)
        let sign = try EvictionSign(of: path.withoutFollowing, status)
        #expect(
            sign == Self.name.map { .placeholder($0) }, sourceLocation: sourceLocation)
    }
}

/// Calls `body` with a file of 120,001 bytes, permissions 0640 and a mark.
func withFile(
    in directory: FilePath? = nil, permissions: UInt16 = 0o640,
    _ body: (EvictionFixture) throws -> Void
) throws {
    var numbers = SeededNumbers(seed: 11)
    let content = (0..<120_001).map { _ in UInt8.random(in: .min ... .max, using: &numbers) }
    let tree = Tree {
        File("file", content).permissions(permissions).modified(EvictionFixture.modified)
    }
    try withTemporaryDirectory(containing: Tree { Directory("root") }) { base in
        let root = directory ?? base.appending("root")
        try tree.create(in: root)
        let journal = Journal(stateHome: base.appending("state"))
        try body(
            EvictionFixture(
                root: root, journal: journal, content: content, permissions: permissions))
    }
}

/// Expects a refusal.
func expectRefusal(
    _ expected: EvictionError, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    #expect(throws: expected, sourceLocation: sourceLocation) { try body() }
}

/// Does what must work where nothing can be thrown.
func mustWork(_ body: () throws -> Void) {
    do {
        try body()
    } catch {
        Issue.record(error)
    }
}
