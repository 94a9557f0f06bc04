import SystemPackage
import TestSupport
import Testing

/// One damaged snapshot keeps nobody from the others.
@Suite("Damaged snapshots among others")
struct DamagedSnapshotTests {
    private static let tree = Tree {
        for number in 0..<9 { File(FileName(Array("file\(number)".utf8)), "text") }
    }

    /// Whether it is named, and with the exit code all else goes on.
    private func expectOthersToWork(
        _ source: FilePath, _ target: FilePath, damaged: Substring, whole: Substring,
        _ command: ([any CommandArgument]) throws -> Command
    ) throws {
        let commands: [(words: [any CommandArgument], code: Int32)] = [
            (["snapshots"], 3), (["show", String(whole)], 0), (["show", "latest", "--items"], 0),
            (["diff", String(whole), "latest"], 0),
            (["restore", String(whole), "--target", target], 0), (["create", source], 0),
            (["forget", "--keep-last", "2", "--dry-run"], 0), (["verify"], 1),
        ]
        for (words, code) in commands {
            let result = try command(words).run()
            #expect(result.exitCode == code, "\(words): \(result)")
            #expect(result.errorText.contains(damaged), "\(words): \(result)")
        }
        let wanted = try command(["show", String(damaged)]).run()
        #expect(wanted.exitCode == 1, "\(wanted)")
        #expect(wanted.errorText.contains("cannot be read"), "\(wanted)")
        let verified = try command(["verify"]).run()
        #expect(verified.text.contains("verify --repair"), "\(verified)")
        let repaired = try command(["verify", "--repair"]).run()
        #expect(repaired.exitCode == 0, "\(repaired)")
        #expect(repaired.errorText.contains("was moved aside"), "\(repaired)")
        for words in [["snapshots"], ["verify"], ["forget", "--keep-last", "1", "--prune"]] {
            let result = try command(words).run()
            #expect(result.exitCode == 0, "\(words): \(result)")
            #expect(result.errorText == "", "\(words): \(result)")
        }
    }

    /// The first digits of the identifier of a new snapshot.
    private func create(_ command: Command) throws -> Substring {
        try command.runSuccessfully().dropFirst("snapshot ".count).prefix(8)
    }

    @Test("archives: a manifest that is damaged, at its start, in its midst or at its end")
    func archives() throws {
        for place in ["0", "20", "$size / 2", "$size - 3"] {
            try withArchives(of: Self.tree) { backup in
                let damaged = try create(backup.command(["create", backup.source]))
                let whole = try create(backup.command(["create", backup.source]))
                try tool(
                    "sh", "-c",
                    """
                    file=$(ls "$1/$2"*.manifest.jsonl.zst); size=$(stat -c %s "$file")
                    printf '\\252\\125\\252' |
                        dd of="$file" bs=1 seek=$((\(place))) conv=notrunc status=none
                    """, "sh", backup.repository, String(damaged))
                if place == "0" || place == "20" {
                    try expectOthersToWork(
                        backup.source, backup.target, damaged: damaged, whole: whole
                    ) { backup.command($0) }
                } else {
                    // The first line can be read: the snapshot is listed, and its items are not.
                    let verified = try backup.run("verify")
                    #expect(verified.exitCode == 1, "\(verified)")
                    #expect(verified.errorText.contains(damaged), "\(verified)")
                    #expect(try backup.run("create", backup.source).exitCode == 0)
                    try backup.runSuccessfully("verify", "--repair")
                    try backup.runSuccessfully("verify")
                }
                let names = try backup.files()
                #expect(names.contains { $0.hasPrefix(damaged) && $0.hasSuffix("zst.damaged") })
                #expect(names.contains { $0.hasPrefix(damaged) && $0.hasSuffix("tar.zst.damaged") })
                try tool(
                    "sh", "-c", "cat \"$1/$2\"*.tar.zst.damaged | zstdcat | tar -t", "sh",
                    backup.repository, String(damaged))
            }
        }
    }

    @Test("archives: a repair of one snapshot does not hide the damaged data of another")
    func damagedDataBesideManifest() throws {
        try withArchives(of: Self.tree) { backup in
            let first = try create(backup.command(["create", backup.source]))
            let second = try create(backup.command(["create", backup.source]))
            try damageFiles(in: backup.repository, "-name", "\(first)*.manifest.jsonl.zst")
            try damageFiles(in: backup.repository, "-name", "\(second)*.tar.zst")
            let repaired = try backup.run("verify", "--read-data", "--repair")
            #expect(repaired.exitCode == 1, "\(repaired)")
            #expect(!repaired.text.contains("nothing is missing"), "\(repaired)")
            #expect((repaired.text + repaired.errorText).contains(second), "\(repaired)")
        }
    }

    @Test("archives: a flipped bit of a first line cannot move a snapshot to another machine")
    func otherMachine() throws {
        try withArchives(of: Self.tree) { backup in
            let damaged = try create(backup.command(["create", backup.source]))
            try tool(
                "sh", "-c",
                """
                file=$(ls "$1/$2"*.manifest.jsonl.zst)
                zstdcat "$file" | sed '1s/"hostName":"/"hostName":"x/' > "$1/new"
                zstd -q --rm -f "$1/new" -o "$file"
                """, "sh", backup.repository, String(damaged))
            let list = try backup.run("snapshots")
            #expect(list.exitCode == 3, "\(list)")
            #expect(list.errorText.contains("does not record what was written to it"), "\(list)")
            #expect(try backup.run("create", backup.source).exitCode == 3)
        }
    }

    @Test("restic: a damaged snapshot file, where no cache has it")
    func restic() throws {
        for damage in ["printf x | dd of=\"$1\" bs=1 seek=60 conv=notrunc", ": > \"$1\""] {
            try withBackup(of: Self.tree) { backup in
                let damaged = try create(backup.command(["create", backup.source]))
                let whole = try create(backup.command(["create", backup.source]))
                try tool(
                    "sh", "-c",
                    """
                    set -- "$1/snapshots/$2"*; chmod u+w "$1"; \(damage) 2>/dev/null
                    """, "sh", backup.repository, String(damaged))
                try tool("rm", "-rf", backup.base.appending("cache"))
                try expectOthersToWork(
                    backup.source, backup.target, damaged: damaged, whole: whole
                ) {
                    backup.command($0)
                }
                let aside = try tool("ls", "-A", backup.repository)
                #expect(aside.contains(".damaged-snapshot-\(damaged)"), "\(aside)")
            }
        }
    }

    @Test("restic: a snapshot that the cache still has is stored anew")
    func cached() throws {
        try withBackup(of: Self.tree) { backup in
            let damaged = try create(backup.command(["create", backup.source]))
            try tool(
                "sh", "-c",
                """
                set -- "$1/snapshots/$2"*; chmod u+w "$1"
                printf x | dd of="$1" bs=1 seek=60 conv=notrunc 2>/dev/null
                """, "sh", backup.repository, String(damaged))
            #expect(try backup.run("verify").exitCode == 1)
            let repaired = try backup.run("verify", "--repair")
            #expect(repaired.exitCode == 0, "\(repaired)")
            try tool("rm", "-rf", backup.base.appending("cache"))
            // It is found by the identifier it had.
            try backup.runSuccessfully("restore", String(damaged), "--target", backup.target)
            try backup.runSuccessfully("verify")
        }
    }

    @Test("the first snapshot of other SOURCEs is made, and waits: what is damaged may be of them")
    func firstOfAnotherSet() throws {
        try withBackup(of: Self.tree) { backup in
            let damaged = try create(backup.command(["create", backup.source]))
            try tool(
                "sh", "-c", "set -- \"$1/snapshots/$2\"*; chmod u+w \"$1\"; : > \"$1\"", "sh",
                backup.repository, String(damaged))
            try tool("rm", "-rf", backup.base.appending("cache"))
            let other = try backup.run("create", backup.base.appending("home"))
            #expect(other.exitCode == 3, "\(other)")
            #expect(other.errorText.contains("no earlier snapshot can be compared"))
            #expect(try backup.run("accept").exitCode == 0)
            #expect(try backup.run("create", backup.base.appending("home")).exitCode == 0)
        }
    }
}
