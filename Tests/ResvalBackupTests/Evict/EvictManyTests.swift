import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Evicting and downloading many files", .cleansUp)
struct EvictManyTests {
    private static func content(_ number: Int) -> [UInt8] {
        Array(repeating: Array("the content of file \(number)\n".utf8), count: 5_000).flatMap { $0 }
    }

    private static let names = (1...9).map { "file \($0)" }

    private static let files = Tree {
        for (number, name) in names.enumerated() {
            File("\(name)", content(number + 1))
        }
    }

    /// Runs a command, which must succeed, and tells which commands of restic it ran.
    private func counting(
        _ backup: BackupFixture, _ arguments: any CommandArgument...
    ) throws -> (text: String, starts: [String]) {
        let log = backup.base.appending("starts")
        try tool("rm", "-f", log)
        let text = try backup.command(arguments, before: "echo \"$1\" >> '\(log)'")
            .runSuccessfully()
        return (text, try tool("cat", log).split(separator: "\n").map(String.init))
    }

    @Test(
        "restic is started as often for many files as for one, whatever their names and directories"
    )
    func starts() throws {
        let backup = try backup {
            Directory("a\u{1B}\n") {
                for name in HostileNames.all {
                    File(name, evictableContent + Array("content of \(name)".utf8))
                }
            }
            Directory("b/ü") {
                for (number, name) in Self.names.enumerated() {
                    File("\(name)", Self.content(number))
                }
            }
        }
        let before = try TreeListing(of: backup.source)
        let evict = try counting(
            backup, "evict", "-R", "--yes", "--minimum-size", "1", backup.source)
        #expect(evict.text.contains("total: \(Self.names.count + HostileNames.all.count) files, "))
        // The first two run at once; one archive proves all.
        #expect(evict.starts.sorted() == ["backup", "cat", "dump"])
        try backup.create(prints: "\(Self.names.count + HostileNames.all.count) excluded")
        // A copy of a placeholder has the same content.
        let copy = backup.base.appending("copy")
        try tool("cp", "-a", backup("b"), copy)
        // The snapshot's record comes with its files.
        let download = try counting(backup, "download", "-R", backup.source, copy)
        #expect(download.starts == ["snapshots", "dump"])
        try tool("diff", "-r", backup("b"), copy)
        #expect(try TreeListing(of: backup.source).differences(from: before) == [])
        #expect(try backup.runSuccessfully("evict", "--list", backup.source) == "")
    }

    @Test("more content than memory is meant for comes in one pass, and a larger file by itself")
    func large() throws {
        let backup = try backup {}
        let make = """
            cd "$1"
            for i in 1 2 3 4 5 6 7 8; do head -c 9M /dev/urandom > "$i"; done
            head -c 70M /dev/urandom > large
            """
        #expect(try backup.script(make, backup.source).exitCode == 0)
        let copy = backup.base.appending("copy")
        try tool("cp", "-a", backup.source, copy)
        try backup.runSuccessfully("evict", "-R", "--yes", backup.source)
        let download = try counting(backup, "download", "-R", backup.source)
        #expect(download.text.contains("total: 9 files, "))
        // The record, the archive, and the large file.
        #expect(download.starts == ["snapshots", "dump", "dump", "dump"])
        try tool("diff", "-r", backup.source, copy)
    }

    @Test("a snapshot that only claims to be the one in a record must be in its repository")
    func claimedOriginals() throws {
        let backup = try backup(of: oneFile)
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        // With other tags, it has another identifier.
        try backup.restic("tag", "--add", "other")
        #expect(try counting(backup, "download", file).starts == ["snapshots", "cat", "dump"])
        #expect(try contentsOfFile(file) == evictableContent)

        try backup.runSuccessfully("evict", file)
        let result = try backup.script(
            """
            set -e
            mv "$1/repository" "$1/first"
            $RESTIC init
            $RESTIC copy --from-repo "$1/first" --from-password-file "$1/password"
            "$RESVAL" download "$2"
            """, backup.base, file)
        result.expect(exits: 1, says: "/file: is evicted into another repository")
        #expect(try isPlaceholder(file))
    }

    /// Overwrites the beginning of what each pack stores.
    private func damagePacks(in directory: FilePath) throws {
        let script = """
            find "$1" -type f -exec chmod u+w {} \\; \\
                -exec sh -c 'printf damage | dd of="$0" bs=1 seek=20 conv=notrunc 2>&1' {} \\;
            """
        try shell(script, directory)
    }

    /// All files but those that vanish or are changed are as they were.
    private func expectWhole(_ backup: BackupFixture) throws {
        for (number, name) in Self.names.enumerated() where !["file 5", "file 7"].contains(name) {
            let file = backup.source.appending(name)
            #expect(try contentsOfFile(file) == Self.content(number + 1), "\(name)")
            #expect(try file.status().permissions == 0o644, "\(name)")
        }
    }

    @Test("a damaged, a vanished and a changed file are named, and the others are evicted")
    func failingToEvict() throws {
        let backup = try backup(of: Self.files)
        try backup.restic("backup", backup("file 3"))
        try damagePacks(in: backup.repository.appending("data"))
        let result = try backup.command(
            ["evict", "-R", "--yes", backup.source],
            beforeBackup: "rm '\(backup.source)/file 5'; echo more >> '\(backup.source)/file 7'"
        ).run(exits: 3, prints: "total: 6 files, ", ", 3 failed\n")
        let errors = result.errorText.split(separator: "\n").map(String.init)
        #expect(errors.count { $0.contains("/file 3: is not in the snapshot as it is") } == 1)
        #expect(errors.count { $0.contains("/file 5: is not in the snapshot as it is") } == 1)
        #expect(errors.count { $0.contains("/file 7: was left alone: its content") } == 1)
        for name in Self.names where name != "file 5" {
            let isWhole = ["file 3", "file 7"].contains(name)
            let permissions = try backup.source.appending(name).status().permissions
            #expect((permissions != 0) == isWhole, "\(name)")
        }
        try backup.runSuccessfully("download", "-R", backup.source)
        try expectWhole(backup)
    }

    @Test("a damaged, a vanished and a changed placeholder are named, and the others come back")
    func failingToDownload() throws {
        let backup = try backup(of: Self.files)
        let paths = Self.names.map { backup.source.appending($0) }
        let (data, saved) = (backup.repository.appending("data"), backup.base.appending("saved"))
        try backup.restic("backup", paths[2])
        let packs = backup.base.appending("packs")
        try tool("cp", "-a", data, packs)
        try damagePacks(in: packs)
        try backup.command(["evict"] + paths).run(exits: 0)
        try tool("cp", "-a", data, saved)
        try tool("cp", "-af", packs.appending("."), data)
        try tool("rm", paths[4])
        try tool("sh", "-c", "chmod 644 \"$0\"; echo other > \"$0\"", paths[6])
        let result = try backup.command(["download"] + paths).run(
            exits: 3, prints: "total: 6 files, ", ", 3 failed\n")
        for (path, words) in [
            (paths[2], "was not downloaded"), (paths[4], "no such file"),
            (paths[6], "it is no longer the evicted file"),
        ] {
            let lines = result.errorText.split(separator: "\n").filter {
                $0.contains("\(path): ")
            }
            #expect(lines.count == 1, "\(result)")
            #expect(lines.first?.lowercased().contains(words) == true, "\(result)")
        }
        #expect(try paths[2].status().permissions == 0)
        #expect(try contentsOfFile(paths[6]) == Array("other\n".utf8))
        try tool("rm", "-r", data)
        try tool("mv", saved, data)
        try backup.runSuccessfully("download", paths[2])
        try expectWhole(backup)
    }

    @Test("a snapshot that another program wrote anew is found by its record")
    func writtenAnew() throws {
        let backup = try backup(of: oneFile)
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        // The second copy names the first as its original.
        try backup.restic("rewrite", "--new-host", "other", "--forget")
        try backup.restic("rewrite", "--new-host", "another", "--forget")
        try backup.run("download", file, exits: 0)
        #expect(try contentsOfFile(file) == evictableContent)
    }

    @Test("nothing is stored while the repository's identifier is not known")
    func unidentified() throws {
        let backup = try backup(of: oneFile)
        let file = backup("file")
        let failing = try backup.command(["evict", file], before: "[ \"$1\" != cat ] || exit 1")
        try failing.run(exits: 1)
        #expect(try contentsOfFile(file) == evictableContent)
        #expect(try backup.snapshotIdentifiers() == [])
    }

    @Test("content that arrives twice in the archive proves nothing, and the file stays whole")
    func twice() throws {
        let backup = try backup(of: oneFile)
        let file = backup("file")
        let restic = try #require(FilePath.tool("restic"))
        let evict = try backup.command(
            ["evict", file],
            before: """
                if [ "$1" = dump ]; then
                    dir=$(mktemp -d '\(backup.base)/XXXXXX')
                    '\(restic)' "$@" > "$dir/tar"
                    tar -rPf "$dir/tar" '\(file)'
                    cat "$dir/tar"; exit 0
                fi
                """)
        try evict.run(exits: 1, says: "was left alone: its content")
        #expect(try contentsOfFile(file) == evictableContent)
    }
}

@Suite("Evicting and bringing back, killed", .cleansUp)
struct EvictKillTests {
    @Test("killed at any moment, each file is whole or can be brought back", arguments: [1, 8])
    func killed(count: Int) throws {
        let backup = try backup {
            for number in 0..<count { File("\(number)", evictableContent + [UInt8(number)]) }
        }
        let before = try TreeListing(of: backup.source)
        let clock = ContinuousClock()
        let evict = backup.command(["evict", "-R", "--yes", backup.source])
        let download = backup.command(["download", "-R", backup.source])
        let longest = try [evict, download].map { command in
            try clock.measure { try command.runSuccessfully() }
        }
        for isEvicting in [true, false] {
            for moment in killMoments(upTo: longest[isEvicting ? 0 : 1]) {
                if !isEvicting { try evict.runSuccessfully() }
                _ = try (isEvicting ? evict : download).killed(after: moment).run()
                try backup.ageLocks()
                if isEvicting {
                    try backup.runSuccessfully("evict", "--recover", backup.source)
                }
                try download.runSuccessfully()
                #expect(try TreeListing(of: backup.source).differences(from: before) == [])
                #expect(try backup.runSuccessfully("evict", "--list", backup.source) == "")
            }
        }
    }
}
