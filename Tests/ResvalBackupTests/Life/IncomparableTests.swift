import SystemPackage
import TestSupport
import Testing

/// Nothing to compare with is never taken for nothing lost.
@Suite("Coverage that cannot be compared")
struct IncomparableTests {
    private static let tree = Tree {
        Directory("letters") {
            for number in 0..<9 { File(FileName(Array("letter\(number)".utf8)), "text") }
        }
        for number in 0..<9 { File(FileName(Array("file\(number)".utf8)), "text") }
    }

    private func exclude(_ path: FilePath) throws {
        try tool("setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true", path)
    }

    /// Leaves 2 of the items.
    private func shrink(_ backup: BackupFixture) throws {
        try tool("sh", "-c", "rm -r \"$1\"/letters \"$1\"/file[1-9]", "sh", backup.source)
    }

    /// The packs with the content of files, and of records; directories are in others.
    private func contentPacks(of backup: BackupFixture) throws -> Set<String> {
        try require(.tool("jq"))
        return try Set(
            backup.restic("list", "index").split(separator: "\n").flatMap {
                try tool(
                    "sh", "-c",
                    """
                    printf %s "$1" |
                        jq -r '.packs[] | select(.blobs[0].type == "data").id'
                    """, "sh", backup.restic("cat", "index", "\($0)")
                ).split(separator: "\n").map(String.init)
            })
    }

    private func expectRefusals(
        _ backup: BackupFixture, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for arguments in [["forget", "--keep-last", "1", "--prune"], ["prune"]] {
            let refused = try backup.command(arguments).run()
            #expect(refused.exitCode == 3, "\(refused)", sourceLocation: sourceLocation)
            #expect(
                refused.errorText.contains("nothing is removed"), sourceLocation: sourceLocation)
        }
    }

    @Test("a snapshot of another client with our tags is not what the next is compared with")
    func otherClient() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try backup.makeForeignSnapshot(of: backup.source.appending("file0"))
            try shrink(backup)
            let result = try backup.run("create", backup.source)
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.errorText.contains("items fell from 20 to 2"), "\(result)")
            try expectRefusals(backup)
            #expect(try backup.snapshotCount() == 3)
        }
    }

    @Test("a snapshot of another client hides neither a whole one nor one that waits")
    func otherClientLast() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try backup.makeForeignSnapshot(of: backup.source.appending("file0"))
            try expectRefusals(backup)
            let refused = try backup.run("forget", "--keep-last", "1")
            #expect(refused.errorText.contains("it has no record that can be read"), "\(refused)")
            try backup.runSuccessfully("accept")
            #expect(try backup.run("accept").exitCode == 1)
            // The one that has a record stays besides the newest.
            try backup.runSuccessfully("forget", "--keep-last", "1")
            #expect(try backup.snapshotCount() == 2)

            try shrink(backup)
            #expect(try backup.run("create", backup.source).exitCode == 3)
            let shown = try backup.runSuccessfully("show", "latest", "--json")
            let shrunk = try #require(snapshotIdentifiers(in: shown).first).prefix(8)
            try backup.makeForeignSnapshot(of: backup.source.appending("file0"))
            try expectRefusals(backup)
            // First the one that has shrunk, then the one that nothing is known of.
            #expect(try backup.runSuccessfully("accept").contains(shrunk), "\(shrunk)")
            try expectRefusals(backup)
            try backup.runSuccessfully("accept")
            try backup.runSuccessfully("forget", "--keep-last", "1")
        }
    }

    @Test("a record that cannot be read is no record of nothing left out: its items are compared")
    func unreadableRecord() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try exclude(backup.source.appending("letters"))
            let result = try backup.command(
                ["create", backup.source],
                before: "case $1 in cat|dump) kill -KILL $$;; esac"
            ).run()
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.errorText.contains("cannot be compared: "))
            #expect(result.errorText.contains("letters: is newly excluded"), "\(result)")
            let shown = try backup.runSuccessfully("show", "latest", "--json")
            #expect(shown.contains(#""reason":"incomparable""#), "\(shown)")
            try expectRefusals(backup)
            try backup.runSuccessfully("accept")
            try backup.runSuccessfully("forget", "--keep-last", "1", "--prune")
            #expect(try backup.snapshotCount() == 1)
        }
    }

    @Test(
        "a restore of a snapshot whose record cannot be read is not complete",
        arguments: ["echo '{}'; exit 0", "echo 'Fatal: something new' >&2; exit 1"])
    func restoring(failure: String) throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let restore = try backup.command(
                ["restore", "--target", backup.target, "latest"],
                before: "case $1 in cat) exit 1;; dump) \(failure);; esac"
            ).run()
            #expect(restore.exitCode == 3, "\(restore)")
            #expect(
                restore.errorText.contains("the snapshot's record cannot be read"), "\(restore)")
            try tool("diff", "-r", backup.source, backup.restored(backup.source))
        }
    }

    @Test("forget refuses while the newest record cannot be read, whatever made it so")
    func unreadableAtForget() throws {
        try withBackup(of: Self.tree) { backup in
            for _ in 0..<2 { try backup.runSuccessfully("create", backup.source) }
            let script = "[ \"$1\" = dump ] && kill -KILL $$"
            for arguments in [["forget", "--keep-last", "1"], ["prune"]] {
                let refused = try backup.command(arguments, before: script).run()
                #expect(refused.exitCode == 3, "\(refused)")
            }
            #expect(try backup.snapshotCount() == 2)
            try backup.runSuccessfully("forget", "--keep-last", "1")
        }
    }

    @Test("with the newest snapshot's data damaged an older one is compared with")
    func damagedData() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let packs = try contentPacks(of: backup)
            try Tree { File("new", "new") }.create(in: backup.source)
            try backup.runSuccessfully("create", backup.source)
            let newest = try #require(try contentPacks(of: backup).subtracting(packs).first)
            try damageFiles(in: backup.repository.appending("data"), "-name", newest)
            try tool("rm", "-rf", backup.base.appending("cache"))
            try exclude(backup.source.appending("letters"))
            let result = try backup.run("create", backup.source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                result.errorText.contains("letters: warning: is newly excluded"), "\(result)")
            let forget = try backup.run("forget", "--keep-last", "1")
            #expect(forget.exitCode == 0, "\(forget)")
            #expect(forget.text.contains("has what was excluded since"), "\(forget)")
        }
    }

    @Test("when no record at all can be read the snapshot waits until it is accepted")
    func onlyDamaged() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let pack = try #require(try contentPacks(of: backup).first)
            try damageFiles(in: backup.repository.appending("data"), "-name", pack)
            for _ in 0..<2 {
                let result = try backup.run("create", backup.source)
                #expect(result.exitCode == 3, "\(result)")
                #expect(
                    result.errorText.contains("no earlier snapshot can be compared"),
                    "\(result)")
            }
            try expectRefusals(backup)
            try backup.runSuccessfully("accept")
            try backup.runSuccessfully("forget", "--keep-last", "1")
        }
    }
}
