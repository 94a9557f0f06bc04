import CLinux
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

/// Another user who owns the target exchanges items while root restores them.
@Suite("Races for the names of restored items")
struct RestoreRaceTests {
    /// Restores the newest snapshot on this thread.
    ///
    /// - Parameter meanwhile: runs before each call that `call` names.
    private func restore(
        _ archives: Archives, before call: SystemCall, _ meanwhile: @escaping () -> Void
    ) async throws -> [RestoreFailure] {
        let snapshot = try #require(try await archives.repository.snapshots().first)
        try tool("mkdir", archives.target)
        let mock = SystemCallMock([:])
        mock.beforeCall = { if $0 == call { meanwhile() } }
        return try restore(archives, snapshot, mock)
    }

    private func restore(
        _ archives: Archives, _ snapshot: Snapshot, _ mock: SystemCallMock
    ) throws -> [RestoreFailure] {
        let repository = archives.repository
        let directory = try repository.open()
        let archive = try repository.openArchive(snapshot.identifier, in: directory.descriptor)
        let manifest = try repository.openManifest(of: snapshot.identifier) { false }
        let paths = try RestorePaths(
            IncludedPaths([]), repository.openManifest(of: snapshot.identifier) { false })
        let restorer = try TreeRestorer(
            archives.target, overwrites: false,
            counter: StepCounter(.itemsRestored, of: 0) { _ in },
            isCancelled: { false })
        try mock.run {
            try restorer.restore(
                ArchiveReader(.pax, from: archive.descriptor, isSummed: true), manifest, paths)
        }
        return restorer.failures
    }

    private func restored(_ archives: Archives, _ name: String) -> FilePath {
        archives.target.pushing(FilePath(root: nil, archives.source.components)).appending(name)
    }

    /// Makes a file that only root may read, for the other user to put somewhere.
    private func makeSecret(_ archives: Archives) throws -> FilePath {
        let secret = archives.base.appending("secret")
        try tool("sh", "-c", "umask 077; echo secret > \"$1\"", "sh", secret)
        return secret
    }

    @Test(
        "what takes the name of a FIFO or a link gets nothing of its owner, permissions and times",
        arguments: ["mkfifo -m 644 item", "ln -s nowhere item"],
        ["ln -f ../secret item", "ln -sf ../secret item", "mkdir item"])
    func metadata(make: String, swap: String) async throws {
        try require(.root)
        try await withArchives(of: Tree {}) { archives in
            try tool(
                "sh", "-c", "cd \"$1\" && \(make) && chown -h 54321 item", "sh", archives.source)
            try await archives.store()
            let secret = try makeSecret(archives)
            let before = try secret.status()
            let item = restored(archives, "item")
            var isSwapped = false
            let failures = try await restore(archives, before: .openat) {
                guard !isSwapped, (try? item.withoutFollowing.status()) != nil else { return }
                isSwapped = true
                let script = swap.replacing("../secret", with: "\(secret)")
                    .replacing(" item", with: " \"$1\"")
                _ = try? tool("sh", "-c", "rm \"$1\" && \(script)", "sh", item)
            }
            #expect(isSwapped)
            #expect(failures.map(\.path) == [archives.source.appending("item").bytes])
            let after = try secret.status()
            #expect(after.owner == before.owner && after.permissions == before.permissions)
            #expect(after.contentModificationTime == before.contentModificationTime)
            let swapped = try item.withoutFollowing.status()
            #expect(swapped.owner == 0)
        }
    }

    @Test("what takes the first name of a file gets no second one")
    func hardLinks() async throws {
        let tree = Tree { File("first", "text") }
        try await withArchives(of: tree) { archives in
            try tool(
                "ln", archives.source.appending("first"), archives.source.appending("second"))
            try await archives.store()
            let secret = try makeSecret(archives)
            let (first, second) = (restored(archives, "first"), restored(archives, "second"))
            var isSwapped = false
            let failures = try await restore(archives, before: .openat) {
                guard !isSwapped, (try? first.status()) != nil else { return }
                isSwapped = true
                _ = try? tool("ln", "-f", secret, first)
            }
            #expect(isSwapped)
            #expect(failures.map(\.path) == [archives.source.appending("second").bytes])
            #expect(throws: Errno.noSuchFileOrDirectory) { try second.status() }
            // Its own name, and the one that was put in place of the first.
            #expect(try secret.status().linkCount == 2)
        }
    }
}
