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

    var file: FilePath { root.appending("file") }

    static let modified = FileTime(seconds: 1_234_567_890, nanoseconds: 987_654_321)
    static let hold = HoldSnapshot(
        snapshot: "0123456789abcdef", tag: "resval-hold=1", repository: Array("/repository".utf8))

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
            candidate, hold: Self.hold, content: ContentHasher.hash(content ?? self.content)
        ) {
            during()
            return false
        }
    }

    /// Brings a file back.
    func download(_ path: FilePath? = nil, content: [UInt8]? = nil) throws {
        guard let download = try Download.begin(at: path ?? file, journal) else { return }
        do throws(EvictionError) {
            try feed(content ?? self.content, to: download)
            try download.finish()
        } catch {
            try download.abandon(because: error)
            throw error
        }
    }

    /// Hands content over in pieces.
    func feed(_ content: some Sequence<UInt8>, to download: Download) throws(EvictionError) {
        var rest = Array(content)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(30_000))
            rest = rest.dropFirst(piece.count)
            let result = piece.withUnsafeBytes { bytes in
                Result { () throws(EvictionError) in try download.receive(bytes) }
            }
            try result.get()
        }
    }

    /// What the journal holds, also one of another user.
    func contents() throws -> Journal.Contents {
        let owner = try? journal.directory.status().owner
        // Where there is none, the journal is empty.
        guard let owner, owner != effectiveUser() else { return try journal.contents() }
        var contents = Journal.Contents(owner: owner)
        var names: [FilePath] = []
        try forEachName(in: journal.directory) { name in
            if let record = RecordName(name) { names.append(record.path) }
            return true
        }
        for name in names {
            let text = try contentsOfFile(journal.directory.pushing(name))
            contents.files.append(try EvictedFile(text: text))
        }
        return contents
    }

    /// Whether the file is as it was at first, and the journal empty.
    func expectWhole(
        permissions: UInt16 = 0o640, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let status = try file.status()
        #expect(status.permissions == permissions, sourceLocation: sourceLocation)
        #expect(try contentsOfFile(file) == content, sourceLocation: sourceLocation)
        #expect(
            status.contentModificationTime == Self.modified, sourceLocation: sourceLocation)
        #expect(try contents().files.isEmpty, sourceLocation: sourceLocation)
    }

    /// Whether the file is a placeholder that the journal knows.
    func expectPlaceholder(
        _ path: FilePath? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let path = path ?? file
        let status = try path.status()
        #expect(status.permissions == 0, sourceLocation: sourceLocation)
        #expect(status.size == content.count, sourceLocation: sourceLocation)
        #expect(
            status.contentModificationTime == Self.modified, sourceLocation: sourceLocation)
        var index = EvictedIndex()
        index.add(try contents())
        let record = index.placeholder(path, status, at: path)
        #expect(record?.state == .evicted, sourceLocation: sourceLocation)
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
        try body(EvictionFixture(root: root, journal: journal, content: content))
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
