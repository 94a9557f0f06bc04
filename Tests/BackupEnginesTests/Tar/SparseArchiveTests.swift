import CLinux
import Eviction
import ResourceValues
import Synchronization
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Archives of sparse files")
struct SparseArchiveTests {
    private static let mebibyte: Int64 = 1 << 20

    /// Makes a file with data at its ends and in the middle of its hole.
    private func makeSparse(_ file: FilePath, size: Int64) throws {
        let script = """
            truncate -s "$2" "$1"
            for at in 0 $(($2 / 2)) $(($2 - 4)); do
                printf 'data' | dd of="$1" conv=notrunc oflag=seek_bytes seek=$at status=none
            done
            """
        try tool("sh", "-c", script, "sh", file, "\(size)")
    }

    /// The size of a file, and its data by its place.
    private func data(of file: FilePath) throws -> [String] {
        let opened = OwnedDescriptor(
            try openFile(in: .workingDirectory, file, flags: [.readOnly], permissions: 0))
        let status = try opened.descriptor.status()
        let regions = try #require(try dataRegions(of: opened.descriptor, status))
        var found = ["\(status.size)"]
        for region in regions where !region.isEmpty {
            var bytes = [UInt8](repeating: 0, count: region.count)
            _ = try bytes.withUnsafeMutableBytes {
                try readFile(opened.descriptor, at: region.lowerBound, into: $0)
            }
            found.append("\(region): \(bytes)")
        }
        return found
    }

    private func items(_ archives: Archives) throws -> [ManifestItem] {
        let path = try #require(try archives.files(".manifest").first)
        let file = OwnedDescriptor(
            try openFile(in: .workingDirectory, path, flags: [.readOnly], permissions: 0))
        let reader = try ManifestReader(from: file.descriptor, isCancelled: { false })
        var items: [ManifestItem] = []
        while let item = try reader.nextItem() { items.append(item) }
        return items
    }

    @Test(
        "holes of any size are stored, verified and restored without being read",
        // To hash the larger one takes hours.
        .timeLimit(.minutes(5)), arguments: [20 << 30, 1 << 44] as [Int64])
    func largeHoles(size: Int64) async throws {
        // A file of ext4 cannot be as large; this is a tmpfs.
        try await withArchives(of: Tree {}, below: "/dev/shm") { archives in
            let file = archives.source.appending("sparse")
            try makeSparse(file, size: size)
            try tool("truncate", "-s", "\(size)", archives.source.appending("hole"))
            let stored = try await archives.store()
            #expect(stored.shortfalls == [])
            #expect(try await archives.repository.check(readsData: true).problems == [])
            let result = try await archives.repository.restore(
                .identifier(stored.identifier), to: archives.target, report: { _ in })
            #expect(result.isComplete, "\(result)")
            for name in ["sparse", "hole"] {
                let original = archives.source.appending(name)
                let restored = archives.target.pushing(
                    FilePath(root: nil, original.components))
                #expect(try data(of: restored) == data(of: original), "\(name)")
            }
        }
    }

    @Test("only where holes are large, the manifest has a digest of the data and its places alone")
    func digests() async throws {
        try await withArchives(of: Tree {}) { archives in
            for (name, hole) in [("large", 100 * Self.mebibyte), ("small", 8 * Self.mebibyte)] {
                let file = archives.source.appending(name)
                try tool("truncate", "-s", "\(hole)", file)
                try tool("sh", "-c", "printf data >> \"$0\"", file)
            }
            try await archives.store()
            let items = try items(archives)
            let (large, small) = (try #require(items.first { $0.size > 100 << 20 }), items.last)
            #expect(large.digest == nil)
            let place = "0000000006400000" + "0000000000000004"
            #expect(large.dataDigest == SHA256.digest(of: "data\(place)".utf8))
            #expect(small?.dataDigest == nil)
            let expected = try tool("sha256sum", archives.source.appending("small"))
            #expect(small?.digest == String(expected.prefix(64)))
        }
    }

    /// Stores a file with a large hole that has a digest.
    private func store(
        in archives: Archives, _ setDigest: (inout ManifestItem) throws -> Void
    ) throws {
        let hole = 100 * Self.mebibyte
        let identifier = "0123456789abcdef"
        let files = try [TarNames.archive(identifier), TarNames.manifest(identifier)].map {
            SharedDescriptor(
                try openFile(
                    in: .workingDirectory, archives.directory.pushing($0),
                    flags: [.writeOnly, .create], permissions: 0o600))
        }
        let moment = FileTime(seconds: 1_000_000, nanoseconds: 0)
        var item = ManifestItem()
        item.path = Array("/file".utf8)
        item.kind = .regularFile
        item.permissions = 0o644
        item.modified = moment
        item.size = hole + 4
        try setDigest(&item)
        let writer = try ArchiveWriter(.pax, to: files[0].descriptor)
        let manifest = try ManifestWriter(
            to: files[1].descriptor,
            Snapshot(
                identifier: identifier, time: moment, hostName: "", userName: "", allTags: []))
        var entry = ArchiveMetadata(item)
        entry.dataRegions = [hole..<hole + 4]
        try writer.begin(entry)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<100 { try writer.append(zeros) }
        try writer.append(Array("data".utf8))
        try writer.end()
        try manifest.append(item)
        var end = ManifestEnd()
        end.items = 1
        (end.archiveSize, end.archiveDigest) = try writer.finish()
        _ = try manifest.finish(end)
        withExtendedLifetime(files) {}
    }

    private func digest(skipsHoles: Bool, at offset: Int64 = 100 << 20) throws -> String {
        var digest = ContentDigest(skipsHoles: skipsHoles) { false }
        try Array("data".utf8).withUnsafeBytes { try digest.update($0, at: offset) }
        return try digest.finish(size: 100 << 20 + 4)
    }

    @Test(
        "snapshots with the digest of the whole content are read, too, and either digest is compared",
        arguments: [true, false], [true, false])
    func formsOfDigests(skipsHoles: Bool, isRight: Bool) async throws {
        try await withArchives(of: Tree {}) { archives in
            let digest = try digest(skipsHoles: skipsHoles, at: isRight ? 100 << 20 : 4096)
            try store(in: archives) { $0.setDigest(digest, skipsHoles: skipsHoles) }
            let problems = try await archives.repository.check(readsData: true).problems
            #expect(problems.isEmpty == isRight, "\(problems)")
            let result = try await archives.repository.restore(
                .identifier("0123456789abcdef"), to: archives.target, report: { _ in })
            #expect(result.failures.map(\.name) == (isRight ? [] : ["different"]))
            let size = try archives.target.appending("file").status().size
            #expect(size == 100 << 20 + 4)
        }
    }

    @Test("a digest that skips holes depends on the data and its places, not on its pieces")
    func skippedHoles() throws {
        func digest(_ pieces: (String, Int64)...) throws -> String {
            var digest = ContentDigest(skipsHoles: true) { false }
            for (text, offset) in pieces {
                try Array(text.utf8).withUnsafeBytes { try digest.update($0, at: offset) }
            }
            return try digest.finish(size: 1 << 40)
        }
        let whole = try digest(("data", 4096))
        #expect(try digest(("da", 4096), ("", 4098), ("ta", 4098)) == whole)
        for other in [
            try digest(("data", 8192)), try digest(("data\0", 4096)), try digest(("da", 4096)),
            try digest(("da", 4096), ("ta", 4099)), try digest(("data", 0)), try digest(),
        ] {
            #expect(other != whole)
        }
        // No zeros are hashed, so nothing asks whether to go on.
        var endless = ContentDigest(skipsHoles: true) { true }
        #expect(try endless.finish(size: .max) == SHA256.digest(of: []))
    }

    @Test(
        "data that appears in a hole while the file is stored is named; a file that only grows is whole",
        arguments: [
            ("printf new | dd of=\"$0\" conv=notrunc bs=1M seek=50", ["changed"]),
            ("printf new >> \"$0\"", []), ("truncate -s 250M \"$0\"", []),
            ("truncate -s 150M \"$0\"", ["changed"]),
        ])
    func changing(script: String, causes: [String]) async throws {
        try await withArchives(of: Tree { File("sparse") }) { archives in
            let file = archives.source.appending("sparse")
            try makeSparse(file, size: 200 * Self.mebibyte)
            let isChanged = Atomic(false)
            let stored = try await archives.store(report: { progress in
                guard progress.bytesDone > 0, !isChanged.exchange(true, ordering: .relaxed) else {
                    return
                }
                _ = try? tool("sh", "-c", script + " 2> /dev/null", file)
            })
            let wasChanged = isChanged.load(ordering: .relaxed)
            #expect(wasChanged)
            #expect(stored.shortfalls.map { "\($0.cause)" } == causes)
            let result = try await archives.repository.restore(
                .identifier(stored.identifier), to: archives.target, report: { _ in })
            #expect(result.failures.map(\.name) == causes.map { _ in "different" })
        }
    }

    @Test("where the filesystem reports no holes, all of a file is data")
    func noHoles() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending("sparse")
            try makeSparse(file, size: Self.mebibyte)
            let opened = OwnedDescriptor(
                try openFile(in: .workingDirectory, file, flags: [.readOnly], permissions: 0))
            let status = try opened.descriptor.status()
            #expect(try dataRegions(of: opened.descriptor, status)?.count == 3)
            let mock = SystemCallMock([.lseek: [.invalidArgument]])
            let regions = try mock.run { try dataRegions(of: opened.descriptor, status) }
            #expect(regions == nil)
        }
    }
}
