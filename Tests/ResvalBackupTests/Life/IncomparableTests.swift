import SystemPackage
import TestSupport
import Testing

/// Nothing to compare with is never taken for nothing lost.
@Suite("Coverage that cannot be compared")
struct IncomparableTests {
    private static let tree = Tree {
        Directory("letters") {
            for number in 0..<9 { File("letter\(number)", "text") }
        }
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

    /// Forgets all but the last snapshot, and returns the number of those that are left.
    private func forget(_ backup: BackupFixture) throws -> Int {
        try backup.runSuccessfully("forget", "--keep-last", "1")
        return try backup.snapshotCount()
    }

    @Test("a snapshot of another client with our tags belongs to no SET")
    func otherClient() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.create()
            let whole = try #require(try backup.originals().first)
            try backup.makeForeignSnapshot(of: backup.source.appending("file0"))
            try shell(#"rm -r "$1"/letters "$1"/file[1-9]"#, backup.source)
            let result = try backup.create(exits: 3)
            #expect(result.errorText.contains("items fell from 20 to 2"), "\(result)")
            try backup.makeForeignSnapshot(of: backup.source.appending("file0"))
            #expect(try forget(backup) == 4)
            #expect(try backup.originals().contains(whole))
        }
    }

    @Test("where a record cannot be read, what is excluded is looked for in its snapshot")
    func unreadableRecord() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.create()
            try backup.exclude(backup.source.appending("letters"))
            try removeTexts(backup)
            let result = try backup.command(
                ["create", backup.source], before: "case $1 in cat|dump) kill -KILL $$;; esac"
            ).run(exits: 3)
            #expect(result.errorText.contains("cannot be compared"))
            #expect(result.errorText.contains("letters: warning: is newly excluded"), "\(result)")
            #expect(try forget(backup) == 2)
            try backup.runSuccessfully("accept")
            #expect(try forget(backup) == 1)
        }
    }

    @Test(
        "a restore of a snapshot whose record cannot be read is not complete",
        arguments: ["echo '{}'; exit 0", "echo 'Fatal: something new' >&2; exit 1"])
    func restoring(failure: String) throws {
        try withBackup(of: Self.tree) { backup in
            try backup.create()
            try removeTexts(backup)
            let restore = try backup.command(
                ["restore", "--snapshot", "latest", "--target", backup.target],
                before: "case $1 in cat) exit 1;; dump) \(failure);; esac"
            ).run(exits: 3)
            #expect(
                restore.errorText.contains("the snapshot's record cannot be read"), "\(restore)")
            try tool("diff", "-r", backup.source, backup.restored(backup.source))
        }
    }

    @Test("forget removes nothing while what the newest snapshot holds is not known")
    func unreadableAtForget() throws {
        try withBackup(of: Self.tree) { backup in
            for _ in 0..<2 { try backup.create() }
            // As if its process had been killed before it was judged.
            let notes = backup.base.appending("home/.local/state/resval/backup/records")
            try tool("find", notes, "-type", "f", "-exec", "truncate", "-s", "0", "{}", "+")
            let result = try backup.command(
                ["forget", "--keep-last", "1"], before: "[\"$1\" = dump] && kill -KILL $$"
            ).run(exits: 0)
            #expect(result.errorText.contains("nothing is removed: "), "\(result)")
            #expect(try backup.snapshotCount() == 2)
            // With its record it is known. It was not judged, so the one before is kept, too.
            #expect(try forget(backup) == 1)
        }
    }

    @Test("with the newest snapshot's data damaged an older one is compared with")
    func damagedData() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.create()
            let packs = try contentPacks(of: backup)
            try Tree { File("new", "new") }.create(in: backup.source)
            try backup.create()
            let newest = try #require(try contentPacks(of: backup).subtracting(packs).first)
            try damageFiles(in: backup.repository.appending("data"), "-name", newest)
            try tool("rm", "-rf", backup.base.appending("cache"))
            try removeTexts(backup)
            try backup.exclude(backup.source.appending("letters"))
            let result = try backup.create(exits: 3)
            #expect(
                result.errorText.contains("letters: warning: is newly excluded"), "\(result)")
            let forget = try backup.run("forget", "--keep-last", "1", exits: 0)
            #expect(forget.text.contains("held for "), "\(forget)")
        }
    }

    @Test("when no record at all can be read, that is told")
    func onlyDamaged() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.create()
            let pack = try #require(try contentPacks(of: backup).first)
            try damageFiles(in: backup.repository.appending("data"), "-name", pack)
            try removeTexts(backup)
            let result = try backup.create(exits: 3)
            #expect(
                result.errorText.contains("no earlier snapshot can be compared"), "\(result)")
        }
    }
}
