import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

/// What fell stays held, whatever comes between.
@Suite("Falls that something hides")
struct HiddenFallTests {
    private static let tree = Tree {
        Directory("docs") {
            for number in 0..<20 { File(FileName(Array("file\(number)".utf8)), "text") }
        }
        Directory("other") {
            for number in 0..<5 { File(FileName(Array("file\(number)".utf8)), "text") }
        }
    }

    private func create(_ backup: BackupFixture) throws -> CommandResult {
        try backup.run(
            "create", backup.source.appending("docs"), backup.source.appending("other"))
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
        try tool("sh", "-c", script, "sh", backup.source)
    }

    private func withoutDocs(_ backup: BackupFixture, _ body: () throws -> Void) throws {
        let docs = backup.source.appending("docs")
        try tool("mv", docs, backup.base)
        try body()
        try tool("rm", "-rf", docs)
        try tool("mv", backup.base.appending("docs"), docs)
    }

    @Test("a SOURCE that was missing is compared with what it was before")
    func afterMissing() throws {
        try withBackup(of: Self.tree) { backup in
            #expect(try create(backup).exitCode == 0)
            try withoutDocs(backup) { try #expect(create(backup).exitCode == 3) }
            try tool("sh", "-c", "rm \"$1\"/docs/file1*", "sh", backup.source)
            let fallen = try create(backup)
            #expect(fallen.exitCode == 3, "\(fallen)")
            #expect(fallen.errorText.contains("its items fell from 21 to 10"), "\(fallen)")
            #expect(try keepsFirst(backup))
        }
    }

    @Test("paths that are gone stay so through runs that are killed or miss the SOURCE")
    func pathsThroughOthers() throws {
        try withBackup(of: Self.tree) { backup in
            #expect(try create(backup).exitCode == 0)
            try replaceAll(backup)
            #expect(try create(backup).exitCode == 3)
            try createKilled(backup)
            #expect(try create(backup).exitCode == 0)
            try withoutDocs(backup) { try #expect(create(backup).exitCode == 3) }
            #expect(try create(backup).exitCode == 0)
            #expect(try keepsFirst(backup))
            try backup.runSuccessfully("accept")
            #expect(try !keepsFirst(backup))
        }
    }

    @Test("paths that were gone in a run that was killed are found by the next one")
    func pathsInKilled() throws {
        try withBackup(of: Self.tree) { backup in
            #expect(try create(backup).exitCode == 0)
            try replaceAll(backup)
            try createKilled(backup)
            let next = try create(backup)
            #expect(next.exitCode == 3, "\(next)")
            #expect(next.errorText.contains("paths of it in the snapshot before are gone"))
            #expect(try keepsFirst(backup))
        }
    }

    @Test("what is excluded while its SOURCE is not there is held")
    func excludedMeanwhile() throws {
        try withBackup(of: Self.tree) { backup in
            #expect(try create(backup).exitCode == 0)
            let file = backup.source.appending("docs/file7")
            try tool("setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true", file)
            try withoutDocs(backup) {
                try tool("mkdir", backup.source.appending("docs"))
                #expect(try create(backup).exitCode == 3)
            }
            let back = try create(backup)
            #expect(back.exitCode == 0, "\(back)")
            #expect(back.errorText.contains("file7: warning: is newly excluded"), "\(back)")
            #expect(try keepsFirst(backup))
        }
    }

    @Test("a SOURCE that fell and becomes part of another stays held")
    func partOfAnother() throws {
        try withRun(of: Self.tree) { fixture in
            let backup = fixture.backup
            func configure(_ source: FilePath) throws {
                let usual = fixture.usual.split(separator: "\n").dropFirst().joined(separator: "\n")
                try fixture.configure(
                    "sources = [\"\(source)\"]\n\(usual)\nverify = \"never\"\n"
                        + "[retention]\nkeep-last = 1\n")
            }
            try configure(backup.source.appending("docs"))
            try #expect(fixture.command("run").run().exitCode == 0)
            let first = try backup.originals().first
            try tool("sh", "-c", "rm \"$1\"/docs/*", "sh", backup.source)
            try #expect(fixture.command("run").run().exitCode == 3)
            try configure(backup.source)
            for _ in 0..<2 {
                let run = try fixture.command("run").run()
                #expect(run.exitCode == 0, "\(run)")
                #expect(try backup.originals().first == first)
                try #expect(fixture.command("status").run().exitCode == 3)
            }
            try fixture.command("accept").runSuccessfully()
            try fixture.command("run").runSuccessfully()
            #expect(try backup.originals().count == 1)
        }
    }

    @Test("where a held snapshot is gone, an older one that has the part is held")
    func heldIsGone() throws {
        try withBackup(of: Self.tree) { backup in
            for _ in 0..<2 { #expect(try create(backup).exitCode == 0) }
            let held = try #require(try backup.originals().last)
            let file = backup.source.appending("docs/file7")
            try tool("setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true", file)
            #expect(try create(backup).exitCode == 0)
            try backup.restic("forget", held)
            #expect(try create(backup).exitCode == 0)
            #expect(try keepsFirst(backup))
        }
    }

    @Test("a file that could not be read and was deleted then is held for 30 days")
    func deleted() throws {
        try withBackup(of: Self.tree, user: 54321) { backup in
            #expect(try create(backup).exitCode == 0)
            let file = backup.source.appending("docs/file7")
            try tool("chown", "0:0", file)
            try tool("chmod", "0", file)
            #expect(try create(backup).exitCode == 3)
            try tool("rm", "-f", file)
            for _ in 0..<2 { #expect(try create(backup).exitCode == 0) }
            let shown = try backup.runSuccessfully("show", "latest", "--json")
            #expect(shown.contains(#""kind":"own","#), "\(shown)")
            #expect(try keepsFirst(backup))
        }
    }

    @Test("many unreadable files hide no exclusion")
    func manyUnreadable() throws {
        try withBackup(of: Self.tree, user: 54321) { backup in
            let script = """
                cd "$1/docs" && for n in $(seq 1100); do echo x > u$n; done && chmod 0 u* && chown 0:0 u*
                """
            try tool("sh", "-c", script, "sh", backup.source)
            for _ in 0..<2 { try #expect(create(backup).exitCode == 3) }
            let file = backup.source.appending("other/file1")
            try tool("setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true", file)
            let result = try create(backup)
            #expect(result.errorText.contains("file1: warning: is newly excluded"))
            try backup.runSuccessfully("forget", "--keep-last", "1")
            #expect(try backup.originals().count == 2)
        }
    }

    @Test("a snapshot that was written anew with less displaces none")
    func rewritten() throws {
        try withBackup(of: Self.tree) { backup in
            for _ in 0..<2 { #expect(try create(backup).exitCode == 0) }
            try backup.runSuccessfully("forget", "--keep-last", "2")
            let docs = backup.source.appending("docs")
            let newest = try #require(try backup.snapshotsOfRestic().last).identifier
            try backup.restic("rewrite", "--exclude", docs, "--forget", newest)
            try tool("rm", "-r", docs)
            try tool("mkdir", docs)
            #expect(try create(backup).exitCode == 3)
            #expect(try keepsFirst(backup))
        }
    }
}
