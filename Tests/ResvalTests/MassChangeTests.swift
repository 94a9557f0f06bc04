import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Mass changes of resval: dry runs and journals", .cleansUp)
struct MassChangeTests: MassChangeSuite {

    @Test("a dry run prints what would change, and changes nothing")
    func dryRun() throws {
        try require(.tool("getfattr"))
        let root = try temporaryDirectory(containing: tree)
        let before = try dump(root)
        let result = try run("set", "-nR", "excluded=true", ".", in: root)
        #expect(result.exitCode == 0)
        #expect(result.errorText == "")
        #expect(
            Set(result.text.split(separator: "\n")) == [
                ".: isExcludedFromBackup=true", "./plain: isExcludedFromBackup=true",
                "./broken: isExcludedFromBackup=true", "./kept: isExcludedFromBackup=true",
                "items to change: 4",
            ])
        try expectTranscript(
            #"""
            $ resval unset all --dry-run plain kept ./kept
            kept: isExcludedFromBackup unset, fileProtection unset
            items to change: 1
            $ resval set -nR excluded=false plain ../tree/plain
            plain: isExcludedFromBackup=false
            items to change: 1
            $ printf 'excluded\0plain\0' | resval exclude -n --files0-from -
            plain: isExcludedFromBackup=true
            items to change: 1
            $ resval include -n excluded plain
            excluded: isExcludedFromBackup unset: nothing excludes it now
            plain: unchanged: it has no mark that excludes it
            items to change: 1
            """#, in: root.appending("tree"), environment: ["HOME": root.string])
        try #expect(dump(root) == before)
        try #expect(tool("ls", root) == "tree")
    }

    @Test("with few descriptors a list is changed all the same")
    func fewDescriptors() throws {
        let root = try temporaryDirectory { for number in 0..<300 { File("tree/f\(number)") } }
        let resval = FilePath.built("resval")
        let result = try Command(
            "/bin/sh", "-c", "ulimit -n 40; exec '\(resval)' exclude --files0-from -",
            in: root.appending("tree"),
            environment: ["XDG_STATE_HOME": root.appending("state").string],
            input: (0..<300).flatMap { Array("f\($0)\0".utf8) }
        ).run()
        #expect(result.exitCode == 0)
        #expect(result.errorText == "")
        #expect(result.text.hasPrefix("items changed: 300; "))
        try #expect(root.appending("tree/f299").marks().isExcludedFromBackup == true)
    }

    @Test("without a place for a journal nothing is changed; plain paths need none")
    func noJournal() throws {
        let root = try temporaryDirectory(containing: tree)
        try tool("touch", root.appending("state"))
        let refused = try run("set", "-R", "excluded=true", "plain", in: root)
        #expect(refused.exitCode == 2)
        #expect(refused.text == "items changed: 0\n")
        #expect(refused.errorText.split(separator: "\n").count == 1)
        try #expect(root.appending("tree/plain").marks().isEmpty)
        expect(try run("set", "excluded=true", "plain", in: root), exits: 0)
        expect(try run("unset", "excluded", "plain", in: root), exits: 0)
        try #expect(root.appending("tree/plain").marks().isEmpty)
    }

    @Test("a state directory that cannot be made is named with what it is for")
    func noStateDirectory() throws {
        let root = try temporaryDirectory(containing: tree)
        try expectTranscript(
            """
            $ resval set -R excluded=true plain
            items changed: 0
            ! resval: /proc/no-home: the directory of the journal cannot be made: no such \
            file or directory (set XDG_STATE_HOME)
            [2]
            """, in: root.appending("tree"), environment: ["XDG_STATE_HOME": "/proc/no-home"])
        try #expect(root.appending("tree/plain").marks().isEmpty)
    }

    @Test("the newest journals are kept, other files untouched")
    func keptJournals() throws {
        let root = try temporaryDirectory(containing: tree)
        let directory = root.appending("state/resval")
        try tool("mkdir", "-p", "-m", "700", directory)
        let old = (1910..<2025).map { "marks-\($0)-01-01T00:00:00.000000000Z-1.jsonl" }
        for (index, name) in old.enumerated() {
            let time = index == 1 ? "1 hour ago" : "2 days ago"
            try tool("touch", "-d", time, directory.appending(name))
        }
        let others = ["purge-2001-01-01T00:00:00.000000000Z-1.jsonl", "marks-note", "status.json"]
        for name in others { try tool("touch", directory.appending(name)) }
        try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
        let names = try tool("ls", directory).split(separator: "\n").map(String.init)
        #expect(Set(others).isSubset(of: names))
        let journals = names.filter { !others.contains($0) }
        // One more than the bound, since that of 1911 is not a day old.
        #expect(Set(journals).subtracting(old).count == 1)
        #expect(Set(journals).intersection(old) == Set([old[1]] + old.dropFirst(16)))
    }

    @Test("--json tells what is changed and what is not")
    func json() throws {
        let root = try temporaryDirectory(containing: tree)
        expect(
            try run("set", "--json", "excluded=true", "excluded", "plain", "none", in: root),
            exits: 2,
            prints: #"""
                {"version":1,"type":"item","path":"excluded","changed":false,"reason":null,"error":null}
                {"version":1,"type":"item","path":"plain","changed":true,"reason":null,"error":null}
                {"version":1,"type":"item","path":"none","changed":false,"reason":null,"error":"noSuchFile"}
                {"version":1,"type":"summary","changedItems":1,"unchangedItems":1,"failedItems":1,"journal":null}

                """#, complains: "resval: none: no such file or directory\n")
        let list = try run(
            "unset", "--json", "all", "--files0-from", "-", in: root, input: "plain\0plain\0")
        try #expect(
            list.text == #"""
                {"version":1,"type":"item","path":"plain","changed":true,"reason":null,"error":null}
                {"version":1,"type":"item","path":"plain","changed":false,"reason":null,"error":null}
                {"version":1,"type":"summary","changedItems":1,"unchangedItems":1,"failedItems":0,"journal":"\#(
                journal(in: root))"}

                """#)
    }
}
