import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

/// What fell stays held, whatever comes between.
@Suite("Falls that something hides", .cleansUp)
struct HiddenFallTests {
    private static let tree = Tree {
        for number in 0..<20 { File("docs/file\(number)", "text") }
        for number in 0..<5 { File("other/file\(number)", "text") }
    }

    @discardableResult
    private func create(
        _ backup: BackupFixture, exits code: Int32 = 0, says errors: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        let sources = ["docs", "other"].map { backup.source.appending($0) }
        return try backup.command(["create"] + sources).run(
            exits: code, says: errors, sourceLocation: sourceLocation)
    }

    /// Makes a snapshot in a run that is killed before it is judged.
    private func createKilled(_ backup: BackupFixture) throws {
        let script = "if [ \"$1\" = backup ]; then \"$REAL\" \"$@\"; kill -KILL $PPID; exit; fi"
        let sources = ["docs", "other"].map { "\(backup.source.appending($0))" }
        #expect(try backup.command(["create"] + sources, before: script).run().exitCode != 0)
    }

    /// Whether the first snapshot stays when all but the last one are forgotten.
    private func keepsFirst(_ backup: BackupFixture) throws -> Bool {
        let first = try backup.originals().first
        try backup.runSuccessfully("forget", "--keep-last", "1")
        return try backup.originals().first == first
    }

    private func replaceAll(_ backup: BackupFixture) throws {
        let script =
            "cd \"$1/docs\" && for f in *; do mv \"$f\" \"$f.x\"; echo -n TEXT > \"$f.x\"; done"
        try shell(script, backup.source)
    }

    private func withoutDocs(_ backup: BackupFixture, _ body: () throws -> Void) throws {
        let docs = backup("docs")
        try tool("mv", docs, backup.base)
        try body()
        try tool("rm", "-rf", docs)
        try tool("mv", backup.base.appending("docs"), docs)
    }

    @Test("a SOURCE that was missing is compared with what it was before")
    func afterMissing() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try withoutDocs(backup) { try create(backup, exits: 3) }
        try shell(#"rm "$1"/docs/file1*"#, backup.source)
        try create(backup, exits: 3, says: "its items fell from 21 to 10")
        #expect(try keepsFirst(backup))
    }

    @Test("paths that are gone stay so through runs that are killed or miss the SOURCE")
    func pathsThroughOthers() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try replaceAll(backup)
        try create(backup, exits: 3)
        try createKilled(backup)
        try create(backup)
        try withoutDocs(backup) { try create(backup, exits: 3) }
        try create(backup)
        #expect(try keepsFirst(backup))
        try backup.runSuccessfully("accept")
        #expect(try !keepsFirst(backup))
    }

    @Test("paths that were gone in a run that was killed are found by the next one")
    func pathsInKilled() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try replaceAll(backup)
        try createKilled(backup)
        try create(backup, exits: 3, says: "paths of it in the snapshot before are gone")
        #expect(try keepsFirst(backup))
    }

    @Test("a second fall under one that stands is told, and holds what was made between")
    func secondFall() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try shell(#"rm "$1"/docs/file1*"#, backup.source)
        try create(backup, exits: 3)
        try shell(#"touch "$1"/docs/new1 "$1"/docs/new2"#, backup.source)
        try create(backup)
        let between = try #require(try backup.originals().last)
        try shell(#"rm "$1"/docs/*"#, backup.source)
        try create(backup, exits: 3, says: "docs: is empty, and was not")
        #expect(try keepsFirst(backup))
        #expect(try backup.originals().contains(between))
    }

    @Test("what only a snapshot has that was not judged is held, and so is the newest judged one")
    func onlyInKilled() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try shell(#"touch "$1"/docs/new1 "$1"/docs/new2"#, backup.source)
        try createKilled(backup)
        let killed = try #require(try backup.originals().last)
        try shell(#"rm "$1"/docs/*"#, backup.source)
        try create(backup, exits: 3)
        #expect(try keepsFirst(backup))
        #expect(try backup.originals().contains(killed))
    }

    @Test("a SOURCE that was emptied and is filled with other names is not back")
    func refilled() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try shell(#"rm "$1"/docs/*"#, backup.source)
        try create(backup, exits: 3)
        let script = "cd \"$1/docs\" && for n in $(seq 20); do echo -n text > other$n; done"
        try shell(script, backup.source)
        try create(backup, exits: 3, says: "paths of it in the snapshot before are gone")
        #expect(try keepsFirst(backup))
    }

    @Test("a small SOURCE whose files get other names is no fall")
    func small() throws {
        let backup = try backup(of: Self.tree)
        let dumps = backup("dumps")
        try tool("mkdir", dumps)
        for day in 1...3 {
            try shell(#"rm -f "$1"/*; echo dump > "$1/day$2""#, dumps, "\(day)")
            try backup.run("create", dumps, exits: 0)
        }
    }

    @Test("a SOURCE that is a link to what is not there is missing, and no SOURCE less")
    func danglingLink() throws {
        let backup = try backup(of: Self.tree)
        let link = backup("link")
        try tool("ln", "-s", "docs", link)
        let other = backup("other")
        try backup.runSuccessfully("create", link, other)
        try tool("mv", backup("docs"), backup.base)
        let result = try backup.run("create", link, other, exits: 3)
        #expect(!result.errorText.contains("no SOURCE any more"), "\(result)")
        try backup.run("show", "latest", "--json", exits: 0, prints: #""kind":"other","#)
    }

    @Test("a link in place of a SOURCE takes it out of no settings", arguments: ["other", "no"])
    func replacedByLink(target: String) throws {
        let backup = try configuredBackup { Self.tree }
        let usual = backup.usual.split(separator: "\n").dropFirst().joined(separator: "\n")
        try backup.configure(
            "sources = [\"\(backup("docs"))\", \"\(backup("other"))\"]\n\(usual)\n"
                + "verify = \"never\"\n[retention]\nkeep-last = 1\n")
        try backup.run("run", exits: 0)
        let first = try backup.originals().first
        try shell(#"mv "$1/docs" "$1/real"; ln -s "$2" "$1/docs""#, backup.source, target)
        try backup.run("run", exits: 3, says: "docs: is newly excluded: its path leads elsewhere")
        #expect(try backup.originals().first == first)
        try backup.run("show", "latest", "--json", exits: 0, prints: #""kind":"other","#)
    }

    @Test("a night in which nothing could be noted leaves nothing to accept behind")
    func orphan() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        try create(backup)
        let records = backup.base.appending("home/.local/state/resval/backup/records")
        try shell(#"chmod a-w "$1"/*"#, records)
        try create(backup, exits: 3, says: "it cannot be noted what came of the snapshot")
        try shell(#"chmod u+w "$1"/*"#, records)
        try backup.run("accept", exits: 1)
        try shell(#"rm "$1"/docs/*"#, backup.source)
        try create(backup, exits: 3)
        try backup.runSuccessfully("accept")
        try backup.run("accept", exits: 1)
    }

    @Test("where the snapshot before cannot be listed, a fall is told, and the backup is made")
    func unlistable() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        let script = "setfattr -n user.resval.isExcludedFromBackup -v true \"$1\"/docs/file1*"
        try shell(script, backup.source)
        let sources = ["docs", "other"].map { "\(backup.source.appending($0))" }
        let failure = "[ \"$1\" = ls ] && { echo 'id 01 not found in repository' >&2; exit 1; }"
        try backup.command(["create"] + sources, before: failure).run(
            exits: 3, says: "its items fell from 21 to 10")
        #expect(try backup.snapshotCount() == 2)
        #expect(try keepsFirst(backup))
    }

    @Test("what is excluded while its SOURCE is not there is held")
    func excludedMeanwhile() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        let file = backup("docs/file7")
        try backup.exclude(file)
        try withoutDocs(backup) {
            try tool("mkdir", backup("docs"))
            try create(backup, exits: 3)
        }
        try create(backup, says: "file7: warning: is newly excluded")
        #expect(try keepsFirst(backup))
    }

    @Test("a SOURCE that fell and becomes part of another stays held")
    func partOfAnother() throws {
        let backup = try configuredBackup { Self.tree }
        func configure(_ source: FilePath) throws {
            let usual = backup.usual.split(separator: "\n").dropFirst().joined(separator: "\n")
            try backup.configure(
                "sources = [\"\(source)\"]\n\(usual)\nverify = \"never\"\n"
                    + "[retention]\nkeep-last = 1\n")
        }
        try configure(backup("docs"))
        try backup.run("run", exits: 0)
        let first = try backup.originals().first
        try shell(#"rm "$1"/docs/*"#, backup.source)
        try backup.run("run", exits: 3)
        try configure(backup.source)
        for _ in 0..<2 {
            try backup.run("run", exits: 0)
            #expect(try backup.originals().first == first)
            try backup.run("status", exits: 3, prints: "covers less than an earlier")
        }
        try backup.runSuccessfully("accept")
        try backup.runSuccessfully("run")
        #expect(try backup.originals().count == 1)
    }

    @Test("where a held snapshot is gone, an older one that has the part is held")
    func heldIsGone() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try create(backup) }
        let held = try #require(try backup.originals().last)
        let file = backup("docs/file7")
        try backup.exclude(file)
        try create(backup)
        try backup.restic("forget", held)
        try create(backup)
        #expect(try keepsFirst(backup))
    }

    @Test("a file that could not be read and was deleted then is held for 30 days")
    func deleted() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        try create(backup)
        let file = backup("docs/file7")
        try tool("chown", "0:0", file)
        try tool("chmod", "0", file)
        try create(backup, exits: 3)
        try tool("rm", "-f", file)
        for _ in 0..<2 { try create(backup) }
        try backup.run("show", "latest", "--json", exits: 0, prints: #""kind":"own","#)
        #expect(try keepsFirst(backup))
    }

    @Test("many unreadable files hide no exclusion")
    func manyUnreadable() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        let script = """
            cd "$1/docs" && for n in $(seq 1100); do echo x > u$n; done && chmod 0 u* && chown 0:0 u*
            """
        try shell(script, backup.source)
        for _ in 0..<2 { try create(backup, exits: 3) }
        let file = backup("other/file1")
        try backup.exclude(file)
        try create(backup, exits: 3, says: "file1: warning: is newly excluded")
        try backup.runSuccessfully("forget", "--keep-last", "1")
        #expect(try backup.originals().count == 2)
    }

    @Test("where all were written anew, what is held stays so")
    func allRewritten() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try replaceAll(backup)
        try create(backup, exits: 3)
        try backup.restic("rewrite", "--exclude", backup("other/file1"), "--forget")
        try create(backup)
        #expect(try keepsFirst(backup))
        #expect(try backup.snapshotCount() == 2)
    }

    @Test("where all were written anew, none displaces another, and a fall holds each")
    func fallOfRewritten() throws {
        let backup = try backup(of: Self.tree)
        try create(backup)
        try tool("rm", backup("docs/file7"))
        try create(backup)
        try backup.restic("rewrite", "--exclude", backup("other/file1"), "--forget")
        #expect(try backup.forget() == 2)
        try shell(#"rm "$1"/docs/*"#, backup.source)
        try create(backup, exits: 3)
        #expect(try backup.forget() == 3)
    }

    @Test("a snapshot that was written anew with less displaces none")
    func rewritten() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try create(backup) }
        try backup.runSuccessfully("forget", "--keep-last", "2")
        let docs = backup("docs")
        let newest = try #require(try backup.snapshotsOfRestic().last).identifier
        try backup.restic("rewrite", "--exclude", docs, "--forget", newest)
        try tool("rm", "-r", docs)
        try tool("mkdir", docs)
        try create(backup, exits: 3)
        #expect(try keepsFirst(backup))
    }
}
