import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Archives whose making or restoring is killed")
struct ArchiveKillTests {
    private func withLargeTree(_ body: (ArchiveFixture) throws -> Void) throws {
        let tree = Tree {
            for number in 0..<200 { File(FileName(Array("\(number)".utf8)), "text").purgeable() }
        }
        try withArchives(of: tree) { backup in
            for name in ["a", "z"] {
                let file = backup.source.appending(name)
                try tool(
                    "dd", "if=/dev/urandom", "of=\(file)", "bs=1M", "count=4", "status=none")
            }
            try body(backup)
        }
    }

    private func duration(of command: Command) throws -> Duration {
        try ContinuousClock().measure { _ = try command.runSuccessfully() }
    }

    @Test("a create killed at any moment loses no snapshot, and the next run is clean")
    func create() throws {
        try withLargeTree { backup in
            let command = backup.command(["create", backup.source])
            for moment in killMoments(upTo: try duration(of: command)) {
                _ = try command.killed(after: moment).run()
                let manifests = try backup.files().filter { $0.contains(".manifest.") }
                    .filter { !$0.hasSuffix(".unfinished") }
                // Every snapshot that is listed is whole.
                let count = try backup.runSuccessfully("snapshots", "--json")
                    .split(separator: "\n").count
                #expect(count == manifests.count)
                let next = try command.run()
                #expect(next.exitCode == 0, "\(next)")
                #expect(try backup.files().allSatisfy { !$0.hasSuffix(".unfinished") })
            }
            try backup.runSuccessfully("restore", "latest", "--target", backup.target)
            #expect(try backup.differences() == [])
        }
    }

    @Test("a restore killed at any moment leaves whole files, and the next one is complete")
    func restore() throws {
        try withLargeTree { backup in
            try backup.runSuccessfully("create", backup.source)
            let command = backup.command(["restore", "latest", "--target", backup.target])
            let longest = try duration(of: command)
            let source = try TreeListing(of: backup.source)
            for moment in killMoments(upTo: longest) {
                try tool("rm", "-rf", backup.target)
                _ = try command.killed(after: moment).run()
                try checkFiles(backup, source)
                let again = try backup.run(
                    "restore", "latest", "--target", backup.target, "--overwrite")
                #expect(again.exitCode == 0, "\(again)")
                #expect(try backup.differences() == [])
            }
        }
    }

    /// A file that has its name has its content and marks.
    private func checkFiles(_ backup: ArchiveFixture, _ source: TreeListing) throws {
        let place = backup.restored(backup.source)
        guard (try? place.status()) != nil else { return }
        let restored = try TreeListing(of: place)
        for (path, text) in restored.items where text.hasPrefix("regularFile") {
            #expect(text == source.items[path])
        }
    }
}
