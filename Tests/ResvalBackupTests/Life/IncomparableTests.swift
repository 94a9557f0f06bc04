import SystemPackage
import TestSupport
import Testing

/// Nothing to compare with is never taken for nothing lost.
@Suite("Coverage that cannot be compared", .cleansUp)
struct IncomparableTests {
    private static let tree = Tree {
        for number in 0..<9 { File("letters/letter\(number)", "text") }
        for number in 0..<9 { File("file\(number)", "text") }
    }

    /// Removes the texts of records that the state directory keeps, so that restic is asked for them.
    private func removeTexts(_ backup: BackupFixture) throws {
        let notes = backup.base.appending("home/.local/state/resval/backup/records")
        #expect(try tool("find", notes, "-name", "*.record", "-print", "-delete") != "")
    }

    /// The packs with the content of files, and of records; directories are in others.
    private func contentPacks(of backup: BackupFixture) throws -> Set<String> {
        try require(.tool("jq"))
        return try Set(
            backup.restic("list", "index").split(separator: "\n").flatMap {
                try shell(
                    """
                    printf %s "$1" |
                        jq -r '.packs[] | select(.blobs[0].type == "data").id'
                    """, backup.restic("cat", "index", "\($0)")
                ).split(separator: "\n").map(String.init)
            })
    }

    @Test("a snapshot of another client with our tags belongs to no SET")
    func otherClient() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let whole = try #require(try backup.originals().first)
        try backup.makeForeignSnapshot(of: backup("file0"))
        try shell(#"rm -r "$1"/letters "$1"/file[1-9]"#, backup.source)
        try backup.create(exits: 3, says: "items fell from 20 to 2")
        try backup.makeForeignSnapshot(of: backup("file0"))
        #expect(try backup.forget() == 4)
        #expect(try backup.originals().contains(whole))
    }

    @Test("where a record cannot be read, what is excluded is looked for in its snapshot")
    func unreadableRecord() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try backup.exclude(backup("letters"))
        try removeTexts(backup)
        try backup.command(
            ["create", backup.source], before: "case $1 in cat|dump) kill -KILL $$;; esac"
        ).run(exits: 3, says: "cannot be compared", "letters: warning: is newly excluded")
        #expect(try backup.forget() == 2)
        try backup.runSuccessfully("accept")
        #expect(try backup.forget() == 1)
    }

    @Test(
        "a restore of a snapshot whose record cannot be read is not complete",
        arguments: ["echo '{}'; exit 0", "echo 'Fatal: something new' >&2; exit 1"])
    func restoring(failure: String) throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try removeTexts(backup)
        try backup.command(
            ["restore", "--snapshot", "latest", "--target", backup.target],
            before: "case $1 in cat) exit 1;; dump) \(failure);; esac"
        ).run(exits: 3, says: "the snapshot's record cannot be read")
        try tool("diff", "-r", backup.source, backup.restored(backup.source))
    }

    @Test("forget removes nothing while what the newest snapshot holds is not known")
    func unreadableAtForget() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try backup.create() }
        // As if its process had been killed before it was judged.
        let notes = backup.base.appending("home/.local/state/resval/backup/records")
        try tool("find", notes, "-type", "f", "-exec", "truncate", "-s", "0", "{}", "+")
        try backup.command(
            ["forget", "--keep-last", "1"], before: "[ \"$1\" = dump ] && kill -KILL $$"
        ).run(exits: 0, says: "nothing is removed: ")
        #expect(try backup.snapshotCount() == 2)
        try backup.command(["accept"], before: "case $1 in cat|dump) kill -KILL $$;; esac")
            .run(exits: 1, says: "make a backup")
        // With its record it is known. None was judged, so the one before is kept, too.
        #expect(try backup.forget() == 2)
    }

    @Test("with the newest snapshot's data damaged an older one is compared with")
    func damagedData() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let packs = try contentPacks(of: backup)
        try Tree { File("new", "new") }.create(in: backup.source)
        try backup.create()
        let newest = try #require(try contentPacks(of: backup).subtracting(packs).first)
        try damageFiles(in: backup.repository.appending("data"), "-name", newest)
        try tool("rm", "-rf", backup.base.appending("cache"))
        try removeTexts(backup)
        try backup.exclude(backup("letters"))
        try backup.create(exits: 3, says: "letters: warning: is newly excluded")
        try backup.run("forget", "--keep-last", "1", exits: 0, prints: "held for ")
    }

    @Test("when no record at all can be read, that is told")
    func onlyDamaged() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let pack = try #require(try contentPacks(of: backup).first)
        try damageFiles(in: backup.repository.appending("data"), "-name", pack)
        try removeTexts(backup)
        try backup.create(exits: 3, says: "no earlier snapshot can be compared")
    }
}

/// One damaged snapshot keeps nobody from the others.
@Suite("Damaged snapshots among others", .cleansUp)
struct DamagedSnapshotTests {
    private static let tree = Tree { for number in 0..<9 { File("file\(number)", "text") } }

    /// Makes a snapshot, and returns the first digits of its identifier.
    private func create(_ backup: BackupFixture) throws -> String {
        String(try backup.create().text.dropFirst("snapshot ".count).prefix(8))
    }

    /// Damages the file of a snapshot, where no cache has it.
    private func damage(_ snapshot: String, in backup: BackupFixture, _ script: String) throws {
        try shell(
            "set -- \"$1/snapshots/$2\"*; chmod u+w \"$1\"; \(script)", backup.repository, snapshot)
        try tool("rm", "-rf", backup.base.appending("cache"))
    }

    @Test(
        "a damaged snapshot file is named by each command, and all else goes on",
        arguments: ["printf x | dd of=\"$1\" bs=1 seek=60 conv=notrunc 2>/dev/null", ": > \"$1\""])
    func others(script: String) throws {
        let backup = try backup(of: Self.tree)
        let (damaged, whole) = (try create(backup), try create(backup))
        try damage(damaged, in: backup, script)
        let commands: [(words: [any CommandArgument], code: Int32)] = [
            (["snapshots"], 3), (["show", whole], 0), (["show", "latest", "--items"], 0),
            (["diff", whole, "latest"], 0),
            (["restore", "--snapshot", whole, "--target", backup.target], 0),
            (["create", backup.source], 0),
            (["forget", "--keep-last", "2", "--dry-run"], 0), (["verify"], 1),
        ]
        for (words, code) in commands {
            try backup.command(words).run(exits: code, says: damaged)
        }
        try backup.run("show", damaged, exits: 1, says: "cannot be read")
        let verified = try backup.run("verify")
        #expect(!verified.text.contains("repair snapshots"), "\(verified)")
    }

    @Test("with the first snapshot of other SOURCEs it is told that what is damaged may be of them")
    func firstOfAnotherSet() throws {
        let backup = try backup(of: Self.tree)
        try damage(create(backup), in: backup, ": > \"$1\"")
        let home = backup.base.appending("home")
        try backup.run("create", home, exits: 3, says: "or it is one that cannot be read: ")
        try backup.run("create", home, exits: 0)
    }
}
