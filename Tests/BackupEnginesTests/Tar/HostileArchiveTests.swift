import CLinux
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Archives made to lead out of a restore's target")
struct HostileArchiveTests {
    private static let moment = FileTime(seconds: 1_000_000, nanoseconds: 0)

    /// Makes a snapshot of items that nobody looked at, with the content "bad" in every file.
    ///
    /// - Parameters:
    ///   - told: the identifier that the manifest tells.
    ///   - claimedSize: the size that the manifest tells of every file.
    private func store(
        _ items: [ManifestItem], in archives: Archives, as told: String = "0123456789abcdef",
        claimedSize: Int64 = 3
    ) throws {
        let identifier = "0123456789abcdef"
        let files = try [TarNames.archive(identifier), TarNames.manifest(identifier)].map {
            SharedDescriptor(
                try openFile(
                    in: .workingDirectory, archives.directory.pushing($0),
                    flags: [.writeOnly, .create], permissions: 0o600))
        }
        let snapshot = Snapshot(
            identifier: told, time: Self.moment, hostName: "", userName: "", allTags: [])
        let writer = try ArchiveWriter(.pax, to: files[0].descriptor)
        let manifest = try ManifestWriter(to: files[1].descriptor, snapshot)
        for var item in items {
            item.permissions = 0o755
            item.modified = Self.moment
            var entry = ArchiveMetadata(
                path: item.archivePath, kind: item.kind, permissions: 0o755, owner: 0, group: 0,
                modified: Self.moment)
            entry.linkTarget = item.linkTarget ?? []
            entry.hardLink = item.hardLink.map { archived($0) }
            if item.kind == .regularFile && item.hardLink == nil {
                var digest = SHA256()
                digest.update(Array("bad".utf8))
                item.digest = digest.finish()
                item.size = 3
                entry.size = 3
            }
            try writer.begin(entry)
            if entry.size > 0 { try writer.append(Array("bad".utf8)) }
            try writer.end()
            if item.size > 0 { item.size = claimedSize }
            try manifest.append(item)
        }
        var end = ManifestEnd()
        end.items = Int64(items.count)
        (end.archiveSize, end.archiveDigest) = try writer.finish()
        _ = try manifest.finish(end)
        withExtendedLifetime(files) {}
    }

    private func item(
        _ path: String, _ kind: FileKind, target: String? = nil, hardLink: String? = nil
    ) -> ManifestItem {
        var item = ManifestItem()
        item.path = Array(path.utf8)
        item.kind = kind
        item.linkTarget = target.map { Array($0.utf8) }
        item.hardLink = hardLink.map { Array($0.utf8) }
        return item
    }

    private func restore(
        _ archives: Archives, overwrites: Bool = false
    ) async throws -> RestoreResult {
        try await archives.repository.restore(
            .identifier("0123456789abcdef"), to: archives.target, overwrites: overwrites,
            report: { _ in })
    }

    @Test(
        "a manifest that tells of more than the archive holds is damaged, and found without hashing it",
        // To hash as many zeros takes the better part of an hour; other tests keep threads for long.
        .timeLimit(.minutes(10)), arguments: [1 << 42, .max, 1 << 45] as [Int64])
    func claimedSizes(size: Int64) async throws {
        try await withArchives(of: Tree {}) { archives in
            try store([item("/large", .regularFile)], in: archives, claimedSize: size)
            let check = try await archives.repository.check(readsData: true)
            #expect(!check.problems.isEmpty)
            let result = try await restore(archives)
            #expect(result.failures.map(\.path) == [Array("/large".utf8)])
        }
    }

    @Test("holes are hashed until that is cancelled, and not at all where no file has as many")
    func holes() throws {
        var cancelled = ContentDigest { true }
        #expect(throws: CancellationError.self) { try cancelled.finish(size: 1 << 42) }
        var endless = ContentDigest { false }
        #expect(throws: ArchiveFailure.self) { try endless.finish(size: .max) }
    }

    @Test("a manifest that tells another identifier than its name is damaged, and leads nowhere")
    func foreignIdentifier() async throws {
        try await withArchives(of: Tree { File("file", "text") }) { good in
            let stored = try await good.store()
            try await withArchives(of: Tree {}) { archives in
                let name = try #require(good.base.lastComponent)
                let told = "../../\(name)/repository/\(stored.identifier)"
                try store([item("/file", .regularFile)], in: archives, as: told)
                let hostile = Snapshot(
                    identifier: told, time: Self.moment, hostName: "", userName: "", allTags: [])
                let before = try tool("ls", good.directory)
                let list = try await archives.repository.list(SnapshotFilter())
                #expect(list.snapshots.isEmpty)
                #expect(list.unreadable.map(\.identifier) == ["0123456789abcdef"])
                await #expect {
                    try await archives.repository.retag(
                        hostile, adding: ["resval-coverage=accepted"], removing: [])
                } throws: {
                    ($0 as? BackupError)?.code == .noSnapshot
                }
                let check = try await archives.repository.check(readsData: false)
                #expect(check.problems.count == 1)
                #expect(try tool("ls", good.directory) == before)
                #expect(try await good.repository.check(readsData: true).problems == [])
            }
        }
    }

    @Test("names that lead up are refused, and nothing is made outside the target")
    func namesThatLeadUp() async throws {
        for path in ["/../up", "/a/../../up", "/./up", "/a//up", "/..", "/a/"] {
            try await withArchives(of: Tree {}) { archives in
                try store([item(path, .regularFile), item("/kept", .regularFile)], in: archives)
                let result: RestoreResult
                do {
                    result = try await restore(archives)
                } catch let error as BackupError {
                    // Libarchive may tell another path than the manifest: no such pair is trusted.
                    #expect(error.code == .damaged, "\(path): \(error)")
                    return
                }
                let names = result.failures.map(\.name)
                #expect(try archives.base.appending("up").withoutFollowing.exists() == false)
                // What libarchive reads under another path than it was told leaves the rest unreadable.
                let isReadable = names == ["missing"]
                #expect(isReadable || names == ["missing", "missing"], "\(path)")
                #expect(try tool("ls", "-A", archives.target) == (isReadable ? "kept" : ""))
            }
        }
    }

    @Test("no file is written through a symbolic link of the archive")
    func linkInArchive() async throws {
        try await withArchives(of: Tree { File("safe", "text") }) { archives in
            try store(
                [
                    item("/link", .symbolicLink, target: "\(archives.source)"),
                    item("/link/safe", .regularFile), item("/link/new", .regularFile),
                    item("/link/directory", .directory),
                ], in: archives)
            let result = try await restore(archives)
            #expect(result.failures.count == 3)
            #expect(try tool("ls", "-A", archives.source) == "safe")
            #expect(try tool("cat", archives.source.appending("safe")) == "text")
        }
    }

    @Test("no file is written through a symbolic link in the target, which is replaced itself")
    func linkInTarget() async throws {
        try await withArchives(of: Tree { File("safe", "text") }) { archives in
            try tool("mkdir", archives.target)
            try tool("ln", "-s", archives.source, archives.target.appending("directory"))
            try tool(
                "ln", "-s", archives.source.appending("safe"), archives.target.appending("file"))
            try store(
                [
                    item("/directory", .directory), item("/directory/safe", .regularFile),
                    item("/file", .regularFile),
                ], in: archives)
            let result = try await restore(archives, overwrites: true)
            #expect(result.failures.count == 2)
            #expect(try tool("cat", archives.source.appending("safe")) == "text")
            #expect(try tool("cat", archives.target.appending("file")) == "bad")
        }
    }

    @Test("a hard link to something outside the target is refused")
    func hardLinkOutside() async throws {
        try await withArchives(of: Tree { File("safe", "text") }) { archives in
            try store(
                [
                    item("/link", .symbolicLink, target: "\(archives.source)"),
                    item("/one", .regularFile, hardLink: "\(archives.source)/safe"),
                    item("/two", .regularFile, hardLink: "/link/safe"),
                    item("/three", .regularFile, hardLink: "/../source/safe"),
                ], in: archives)
            let result = try await restore(archives)
            #expect(result.failures.count == 3)
            #expect(try tool("ls", "-A", archives.target) == "link")
        }
    }

    @Test("a file that is there stays, unless it may be overwritten; then its old links keep it")
    func existingFiles() async throws {
        try await withArchives(of: Tree {}) { archives in
            try store([item("/file", .regularFile), item("/fifo", .fifo)], in: archives)
            try tool("mkdir", archives.target)
            let file = archives.target.appending("file")
            let fifo = archives.target.appending("fifo")
            let link = archives.base.appending("link")
            try tool(
                "sh", "-c", "echo mine > \"$1\"; echo mine > \"$2\"; ln \"$1\" \"$3\"", "sh",
                file, fifo, link)
            let snapshot = try #require(try await archives.repository.snapshots().first)
            let kept = try await archives.repository.extract(
                RestoreRequest(
                    snapshot: snapshot, target: archives.target, includes: IncludedPaths([]),
                    overwrites: false), report: { _ in })
            #expect(kept.failures.map(\.name) == ["missing", "missing"])
            #expect(try tool("cat", file, fifo) == "mine\nmine")
            let result = try await restore(archives, overwrites: true)
            #expect(result.failures.isEmpty, "\(result.failures)")
            #expect(try tool("cat", file) == "bad")
            #expect(try fifo.withoutFollowing.status().kind == .fifo)
            #expect(try tool("cat", link) == "mine")
        }
    }
}

extension SymbolicLinkPath {
    fileprivate func exists() throws -> Bool {
        do throws(Errno) {
            _ = try status()
            return true
        } catch .noSuchFileOrDirectory {
            return false
        }
    }
}
