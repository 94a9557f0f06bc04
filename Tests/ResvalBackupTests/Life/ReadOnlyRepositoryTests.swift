import SystemPackage
import TestSupport
import Testing

/// A repository on a disk of its own that is read-only or full.
@Suite("Repositories that cannot be written to", .cleansUp)
struct ReadOnlyRepositoryTests {
    private static let tree = Tree {
        File("one", "text")
        Directory("two") { File("three", "text") }
    }

    /// Makes a repository on a filesystem of 16 MiB that has two snapshots.
    private func repositoryOnVolume() throws -> (BackupFixture, MountedFilesystem) {
        try require(.root)
        let volume = try filesystem(.tmpfs)
        let backup = try backup(of: Self.tree)
        try volume.remount(["size=16m"])
        try tool("mv", backup.repository, volume.root.appending("repository"))
        try tool("ln", "-s", volume.root.appending("repository"), backup.repository)
        for _ in 0..<2 {
            try Tree { File("new", "new") }.create(in: backup.source)
            try backup.create()
            try tool("rm", backup("new"))
        }
        return (backup, volume)
    }

    /// What reads works, with a warning and without waiting.
    private func expectReading(_ backup: BackupFixture) throws {
        let first = try backup.run("snapshots", "--json", exits: 0, says: "it is read without one")
        let identifier = try #require(snapshotIdentifiers(in: first.text).first)
        let start = ContinuousClock.now
        for words in [
            ["show", "latest"], ["show", identifier, "--items"], ["diff", identifier, "latest"],
            ["restore", "--snapshot", "latest", "--target", "\(backup.target)"],
            ["verify", "latest"],
            ["verify", "--read-data"],
        ] {
            try backup.command(words).run(exits: 0)
        }
        // restic alone tries each time for the better part of a minute.
        #expect(ContinuousClock.now - start < .seconds(200))
        try tool("cmp", backup("one"), backup.restored(backup.source).appending("one"))
    }

    @Test("a read-only repository can be read, and what writes is refused at once")
    func readOnly() throws {
        let (backup, volume) = try repositoryOnVolume()
        try volume.remount(["ro"])
        try expectReading(backup)
        for words in [["create", "\(backup.source)"], ["forget", "--keep-last", "1"], ["prune"]] {
            let start = ContinuousClock.now
            try backup.command(words).run(
                exits: 1, says: "cannot be written to",
                "check its owner, permissions and mount options")
            // restic alone tries for the better part of a minute.
            #expect(ContinuousClock.now - start < .seconds(40))
        }
        try volume.remount(["rw"])
    }

    @Test("a full repository can be read, and loses nothing before there is room to forget")
    func full() throws {
        let (backup, volume) = try repositoryOnVolume()
        let script = "cat /dev/zero > \"$1/filler\" 2>/dev/null; true"
        try shell(script, volume.root)
        try expectReading(backup)
        try backup.create(exits: 1, says: "no space left")
        let snapshots = volume.root.appending("repository/snapshots")
        let before = try tool("ls", snapshots)
        try backup.run(
            "forget", "--keep-last", "1", "--prune", exits: 1,
            says: "no space left", "removing other files there", "nothing is lost")
        #expect(try tool("ls", snapshots) == before)
        try tool("rm", volume.root.appending("filler"))
        try backup.runSuccessfully("verify", "--read-data")
        try backup.run("forget", "--keep-last", "1", "--prune", exits: 0)
        #expect(try backup.snapshotCount() == 1)
        try backup.runSuccessfully("verify", "latest", "--read-data")
    }

    @Test("a full cache keeps nothing from being backed up")
    func smallCache() throws {
        let volume = try filesystem(.tmpfs)
        let backup = try backup(of: Self.tree)
        try volume.remount(["size=16k"])
        var command = backup.command(["create", backup.source])
        command.environment["RESTIC_CACHE_DIR"] = "\(volume.root)/cache"
        try command.run(exits: 0)
        try backup.runSuccessfully("verify", "latest")
    }

    @Test("a cache whose disk fills up while it is written is not used, and nothing hangs")
    func fullCache() throws {
        try require(.root)
        let volume = try filesystem(.tmpfs)
        let backup = try backup { File("small", "text") }
        try shell(
            #"for i in $(seq 2000); do echo $i > "$1/a-name-that-takes-some-room-$i"; done"#,
            backup.source)
        try backup.create()
        // With room enough to begin, and too little for the index and the trees.
        try volume.remount(["size=20m"])
        try shell(#"head -c 20900000 /dev/zero > "$1/filler"; true"#, volume.root)
        for size in ["20m", "40m"] {
            let cache = volume.root.appending("cache")
            try volume.remount(["size=\(size)"])
            // Takes all room but a few pages once the program has looked how much there is.
            let script = """
                [ -e "\(volume.root)/second" ] ||
                    cat /dev/zero > "\(volume.root)/second" 2>/dev/null
                truncate -s -32K "\(volume.root)/second"
                """
            for words in [["snapshots"], ["create", "\(backup.source)"], ["verify"]] {
                var command = try backup.command(words, before: script)
                command.environment["RESTIC_CACHE_DIR"] = "\(cache)"
                let result = try command.run(exits: 0)
                // Of snapshots alone there may be little enough.
                guard size == "20m" || words != ["snapshots"] else { continue }
                #expect(
                    result.errorText.contains("the disk of restic's cache is full"),
                    "\(size), \(words): \(result)")
            }
            try tool("rm", "-rf", cache, volume.root.appending("second"))
        }
    }
}
