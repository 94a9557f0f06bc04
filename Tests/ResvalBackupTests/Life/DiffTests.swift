import SystemPackage
import TestSupport
import Testing

@Suite("Comparing snapshots")
struct DiffTests {
    @Test("deleted, newly excluded and no longer excluded are told apart, by exact names")
    func kinds() throws {
        let gone = FileName([0x67, 0xFF])
        let new = FileName([0x67, 0xFE, 0x0A])
        let tree = Tree {
            File(gone, "text")
            File("same", "text")
            File("a.b", "text")
            Directory("a") { File("changed", "text") }
            File("marked", "text")
            Directory("unmarked") { File("inside", "text") }
        }
        try withBackup(of: tree) { backup in
            let mark = ["-n", "user.resval.isExcludedFromBackup"]
            try tool(
                "setfattr", mark[0], mark[1], "-v", "true", backup.source.appending("unmarked"))
            try backup.create()
            let first = try #require(try backup.snapshotIdentifiers().first)
            try tool("rm", backup.source.appending(gone))
            try Tree { File(new, "text") }.create(in: backup.source)
            try shell(#"echo more >> "$1""#, backup.source.appending("a/changed"))
            try tool("setfattr", "-x", mark[1], backup.source.appending("unmarked"))
            try tool("setfattr", mark[0], mark[1], "-v", "true", backup.source.appending("marked"))
            try backup.create()
            let difference = try backup.runSuccessfully("diff", first, "latest")
            #expect(
                difference == """
                    changed \(backup.source)/a/changed
                    added $'\(backup.source)/g\\376\\n'
                    deleted $'\(backup.source)/g\\377'
                    newly-excluded \(backup.source)/marked: its mark excludes it
                    no-longer-excluded \(backup.source)/unmarked/inside: its mark excludes it
                    total: 1 added, 1 deleted, 1 changed, 1 newly-excluded, 1 no-longer-excluded
                    """)
            let json = try backup.runSuccessfully("diff", first, "latest", "--json")
            #expect(
                json.contains(#"{"version":1,"difference":"deleted","path":null,"pathBase64":""#))
            #expect(json.contains(#""sizeBefore":4,"sizeAfter":9"#))
            // Backwards, it is the other way round.
            let back = try backup.runSuccessfully("diff", "latest", first)
            #expect(back.contains("newly-excluded \(backup.source)/unmarked/inside"))
        }
    }
}
