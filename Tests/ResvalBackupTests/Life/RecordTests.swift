import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// What a snapshot keeps of what was left out.
@Suite("The record of a snapshot", .cleansUp)
struct RecordTests {
    @Test("what was left out is told with its reason, by names of any bytes")
    func excluded() throws {
        let hostile = FileName([0x66, 0xFF, 0x0A, 0x1B, 0x20])
        let backup = try backup {
            File(hostile, "text")
            Directory("cache") { File("inside", "text") }
        }
        try backup.exclude(backup.source.appending(hostile))
        try backup.exclude(backup("cache"))
        try backup.create()
        let text = try backup.runSuccessfully("show", "latest", "--excluded")
        #expect(
            text == """
                \(backup.source)/cache: its mark excludes it
                $'\(backup.source)/f\\377\\n\\033 ': its mark excludes it
                """)
        let raw = try backup.run("show", "latest", "--excluded", "--null")
        #expect(
            raw.output == backup("cache").bytes + [0]
                + backup.source.appending(hostile).bytes + [0])
        let json = try backup.runSuccessfully("show", "latest", "--excluded", "--json")
        #expect(json.contains(#""isDirectory":true,"reason":"marked""#))
        #expect(json.contains(#""path":null,"pathBase64":""#))
        try backup.run(
            "show", "latest", "--json", exits: 0,
            prints: #""items":2,"bytes":0,"excludedItems":2"#)
    }

    @Test("no listing, comparison or restore shows the record, whose file is private and removed")
    func hidden() throws {
        let backup = try backup(user: 54321) { File("file", "text") }
        try backup.create()
        let state = backup.base.appending("home/.local/state/resval")
        let place = "\(state)/resval-record-"
        #expect(try backup.restic("ls", "latest").contains(place))
        #expect(try backup.restic("ls", "-l", "latest").contains("-rw-------"))
        let items = try backup.runSuccessfully("show", "latest", "--items")
        #expect(!items.contains("resval-record"))
        #expect(items.contains("\(backup.source)/file"))
        try backup.restore()
        let found = try tool(
            "find", backup.target, "-name", "resval-record*", "-o", "-name", "home")
        #expect(found == "", "\(found)")
        try backup.create()
        let first = try #require(try backup.snapshotIdentifiers().first)
        let difference = try backup.runSuccessfully("diff", first, "latest")
        #expect(difference.split(separator: "\n").count == 1, "\(difference)")
        #expect(try tool("ls", state) == "backup\nstored")
    }

    @Test("the next backup need not ask restic for it, and believes no other text of it")
    func keptText() throws {
        let backup = try backup {
            File("file", "text")
            File("letter", "text")
        }
        let notes = backup.base.appending("home/.local/state/resval/backup/records")
        func create(refusing command: String) throws -> CommandResult {
            try backup.command(
                ["create", backup.source],
                before: "[ \"$1\" = \(command) ] && kill -KILL $$"
            ).run()
        }
        try backup.create()
        try backup.exclude(backup("letter"))
        try create(refusing: "dump").expect(exits: 0, says: "letter: warning: is newly excluded")
        // As if the file had been excluded all the time.
        let forge = "find \"$1\" -name '*.record' -exec sed -i 's:/letter:/file:g' {} +"
        try shell(forge, notes)
        try backup.exclude(backup("file"))
        try create(refusing: "dump").expect(exits: 3, says: "cannot be compared")
        try shell(forge, notes)
        #expect(try create(refusing: "nothing").exitCode == 0)
        for _ in 0..<4 { try backup.create() }
        let texts = try tool("find", notes, "-name", "*.record", "-perm", "600")
        #expect(texts.split(separator: "\n").count == 4)
    }

    @Test("a home with little room keeps no text of it, no names, and fails no backup")
    func littleRoom() throws {
        try require(.root)
        let volume = try filesystem(.tmpfs)
        let backup = try backup { File("file", "text") }
        try tool("mount", "-o", "remount,size=8m", volume.root)
        for _ in 0..<2 {
            try backup.command(["create", backup.source])
                .setting(["XDG_STATE_HOME": "\(volume.root)/state"]).runSuccessfully()
        }
        #expect(try tool("find", volume.root, "-name", "*.record", "-o", "-name", "*.names") == "")
    }

    @Test("two backups of the same SOURCEs at the same time both succeed, each with its record")
    func creates() throws {
        let backup = try backup { File("file", "text") }
        try backup.addNoise(megabytes: 60)
        let result = try backup.script(
            """
            "$RESVAL" create "$1" >/dev/null & first=$!
            "$RESVAL" create "$1" >/dev/null & second=$!
            wait $first; echo $?; wait $second; echo $?
            """, backup.source)
        #expect(result.text == "0\n0\n", "\(result)")
        let list = try backup.runSuccessfully("snapshots", "--json")
        let identifiers = snapshotIdentifiers(in: list)
        #expect(identifiers.count == 2)
        for identifier in identifiers {
            try backup.run("show", identifier, "--json", exits: 0, prints: #""bytes":62914564,"#)
        }
    }
}
