import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

/// A file, and the directory of locks elsewhere.
struct EvictionFixture {
    let root: FilePath
    let state: EvictionDirectory
    let content: [UInt8]
    var permissions: UInt16 = 0o640
    var modified = Self.modified

    var file: FilePath { root.appending("file") }

    static let modified = FileTime(seconds: 1_234_567_890, nanoseconds: 987_654_321)

    /// The record that is written on the file.
    var record: EvictionRecord? {
        EvictionRecord(
            repository: "fedcba9876543210", snapshot: "0123456789abcdef", item: 0,
            permissions: permissions, modified: modified)
    }

    /// Evicts the file.
    @discardableResult
    func evict(during: () -> Void = {}) throws -> Int64 {
        try evict(state.evictableFile(at: file), during: during)
    }

    /// Evicts a file that was looked at before.
    ///
    /// - Parameter during: runs while the file is hashed.
    func evict(
        _ candidate: EvictableFile, content: [UInt8]? = nil, during: () -> Void = {}
    ) throws -> Int64 {
        try state.evict(
            candidate, try #require(record), content: ContentHash(of: content ?? self.content)
        ) {
            during()
            return false
        }
    }

    /// What the repository tells of the file.
    func kept(_ path: FilePath, dataBytes: Int64? = nil) throws -> KeptFile {
        var kept = KeptFile()
        kept.path = file.bytes
        kept.owner = try path.status().owner
        kept.size = Int64(content.count)
        kept.modified = modified
        kept.permissions = permissions
        kept.content = ContentHash(of: content)
        kept.dataBytes = dataBytes
        return kept
    }

    /// Begins to bring a file back; nil where it is whole.
    func begin(_ path: FilePath? = nil, dataBytes: Int64? = nil) throws -> Download? {
        let path = path ?? file
        return try Download(at: path, try #require(record), kept(path, dataBytes: dataBytes), state)
    }

    /// Brings a file back.
    func download(_ path: FilePath? = nil, content: [UInt8]? = nil) throws {
        guard let download = try begin(path) else { return }
        do {
            repeat {
                try feed(content ?? self.content, to: download)
            } while try download.endPass()
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

    /// Whether the file is as it was at first, without a record.
    func expectWhole(
        permissions: UInt16? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let status = try file.status()
        #expect(
            status.permissions == permissions ?? self.permissions, sourceLocation: sourceLocation)
        #expect(try contentsOfFile(file) == content, sourceLocation: sourceLocation)
        #expect(status.contentModificationTime == Self.modified, sourceLocation: sourceLocation)
        #expect(try file.evictionRecord() == nil, sourceLocation: sourceLocation)
    }

    /// Whether the file is a placeholder.
    func expectPlaceholder(
        _ path: FilePath? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let path = path ?? file
        let status = try path.status()
        #expect(status.permissions == 0, sourceLocation: sourceLocation)
        #expect(status.size == content.count, sourceLocation: sourceLocation)
        #expect(status.contentModificationTime == Self.modified, sourceLocation: sourceLocation)
        let sign = try EvictionSign(of: path.withoutFollowing, status)
        #expect(sign == record.map { .placeholder($0) }, sourceLocation: sourceLocation)
    }
}

/// Writes over a part of a file, as another program does.
func overwrite(_ file: FilePath, with bytes: [UInt8], at offset: Int64) throws {
    let descriptor = try openFile(file, flags: .writeOnly)
    try bytes.withUnsafeBytes { try writeFile(descriptor, $0, at: offset) }
    try closeFile(descriptor)
}

/// Makes a file of 120,001 bytes, permissions 0640 and a mark.
func evictionFixture(
    in directory: FilePath? = nil, permissions: UInt16 = 0o640
) throws -> EvictionFixture {
    var numbers = SeededNumbers(seed: 11)
    let content = (0..<120_001).map { _ in UInt8.random(in: .min ... .max, using: &numbers) }
    let base = try temporaryDirectory { Directory("root") }
    let root = directory ?? base.appending("root")
    try Tree {
        File("file", content).permissions(permissions).modified(EvictionFixture.modified)
    }.create(in: root)
    return EvictionFixture(
        root: root, state: EvictionDirectory(stateHome: base.appending("state")), content: content,
        permissions: permissions)
}

/// Expects a refusal.
func expectRefusal(
    _ expected: EvictionError, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    #expect(sourceLocation: sourceLocation) {
        try body()
    } throws: { error in
        EvictionError(error, at: "/") == expected
    }
}

/// Does what must work where nothing can be thrown.
func mustWork(_ body: () throws -> Void) {
    do {
        try body()
    } catch {
        Issue.record(error)
    }
}
