import CLinux
import ResourceValues
import Synchronization
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Storing into archives while the source changes")
struct ArchiveStoringTests {
    private static let tree = Tree {
        File("file", "text")
        File("other", "text")
        Directory("directory") { File("inside", "text") }
    }

    private func causes(_ stored: StoredSnapshot, below root: FilePath) -> [String] {
        stored.shortfalls.map {
            String(decoding: $0.path.dropFirst(root.bytes.count + 1), as: UTF8.self)
                + ": \($0.cause)"
        }.sorted()
    }

    @Test("what vanished, and what became a link, a FIFO or another directory, is named")
    func replaced() async throws {
        try await withArchives(of: Self.tree) { archives in
            let stored = try await archives.store(meanwhile: {
                let script = """
                    cd "$1"
                    rm file; mkfifo file
                    rm other; ln -s /etc/passwd other
                    rm -r directory; ln -s /etc directory
                    """
                try tool("sh", "-c", script, "sh", archives.source)
            })
            #expect(
                causes(stored, below: archives.source)
                    == ["directory: changed", "file: changed", "other: changed"])
        }
    }

    @Test("a file that is gone is not in the snapshot, nor is one that came after the plan")
    func comingAndGoing() async throws {
        try await withArchives(of: Self.tree) { archives in
            let stored = try await archives.store(meanwhile: {
                try tool("rm", archives.source.appending("file"))
                try tool("touch", archives.source.appending("new"))
            })
            #expect(stored.shortfalls == [])
            let snapshot = try #require(try await archives.repository.snapshots().first)
            let entries = try await archives.repository.readEntries(
                of: snapshot.identifier, with: Paths())
            #expect(
                entries.paths.map { String(decoding: $0, as: UTF8.self) }
                    == ["", "/directory", "/directory/inside", "/other"]
                    .map { "\(archives.source)\($0)" })
        }
    }

    @Test("a file cut off while it is read is padded, named, and told from a whole one")
    func truncated() async throws {
        try await withArchives(of: Tree { File("file") }) { archives in
            let file = archives.source.appending("file")
            try tool("dd", "if=/dev/urandom", "of=\(file)", "bs=1M", "count=8", "status=none")
            let isCut = Atomic(false)
            let stored = try await archives.store(report: { progress in
                guard progress.bytesDone > 0, !isCut.exchange(true, ordering: .relaxed) else {
                    return
                }
                _ = file.withPlatformString { truncate($0, 1 << 20) }
            })
            let wasCut = isCut.load(ordering: .relaxed)
            #expect(wasCut)
            #expect(causes(stored, below: archives.source) == ["file: changed"])
            let result = try await archives.repository.restore(
                .latestOf(stored), to: archives.target, report: { _ in })
            #expect(result.failures.map(\.name) == ["different"])
            // What was read is there.
            let restored = archives.target.pushing(FilePath(root: nil, file.components))
            try tool("cmp", "-n", "262144", file, restored)
        }
    }

    @Test("leftovers of a killed process are removed, and no other file is")
    func leftovers() async throws {
        try await withArchives(of: Self.tree) { archives in
            let kept = [
                "0123456789abcdef.tar.zst.unfinished.txt", "notes.unfinished",
                "0123456789ABCDEF.tar.zst.unfinished", "fedcba9876543210.tar.zst",
            ]
            for name in kept + ["0123456789abcdef.tar.zst.unfinished"] {
                try tool("touch", "\(archives.directory)/\(name)")
            }
            try await archives.store()
            #expect(try archives.files("0123456789abcdef").count == 1)
            for name in kept { #expect(try archives.files(name).count >= 1, "\(name)") }
            // Pruning removes an archive that no manifest goes with.
            try await archives.repository.prune()
            #expect(try archives.files("fedcba9876543210").isEmpty)
            #expect(try archives.files(".tar.zst").count == 3)
        }
    }

    @Test("tags can be changed, and what is removed is gone, manifest and archive")
    func upkeep() async throws {
        try await withArchives(of: Self.tree) { archives in
            try await archives.store(tags: ["one", "two"])
            let first = try #require(try await archives.repository.snapshots().first)
            try await archives.repository.retag(first, adding: ["three"], removing: ["one"])
            let second = try #require(try await archives.repository.snapshots().first)
            #expect(second.allTags == ["two", "three"])
            #expect(try await archives.repository.check(readsData: true).problems == [])
            try await archives.repository.remove([second])
            #expect(try await archives.repository.snapshots().isEmpty)
            #expect(try archives.files(".zst").isEmpty)
        }
    }

    @Test("a snapshot keeps its record")
    func record() async throws {
        try await withArchives(of: Self.tree) { archives in
            try await archives.store()
            let snapshot = try #require(try await archives.repository.snapshots().first)
            let record = try await archives.repository.readRecordBytes(
                of: snapshot, with: WholeOutput())
            #expect(record.bytes == emptyRecord)
        }
    }
}

/// Keeps the paths of a snapshot.
private struct Paths: SnapshotEntryHandler {
    var paths: [[UInt8]] = []

    mutating func receive(_ entry: SnapshotEntry) { paths.append(entry.path) }
}

extension SnapshotChoice {
    fileprivate static func latestOf(_ stored: StoredSnapshot) -> SnapshotChoice {
        .identifier(stored.identifier)
    }
}
