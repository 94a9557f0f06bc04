import SystemPackage
import TestSupport
import Testing

@Suite("Items in old snapshots", .cleansUp)
struct OccurrenceTests {
    private static let name = FileName(Array("raw [1]* \\".utf8) + [0xFF, 0x0A])
    private let tree = Tree {
        File("kept", "text")
        Directory(Self.name) {
            File("a", "12345")
            Directory("deep") { File(FileName([0xFE]), "1234567") }
        }
    }

    private func identifiers(_ backup: BackupFixture) throws -> [String] {
        try backup.runSuccessfully("snapshots").split(separator: "\n").dropFirst()
            .map { String($0.prefix(8)) }
    }

    @Test("snapshots PATH names those that hold it, with how much of it")
    func item() throws {
        let backup = try backup(of: tree)
        let raw = backup.source.appending(Self.name)
        for _ in 0..<2 { try backup.create() }
        try backup.exclude(raw)
        try backup.create()
        let all = try identifiers(backup)
        try #require(all.count == 3)
        let result = try backup.run("snapshots", raw, exits: 0)
        #expect(result.errorText == "")
        let lines = result.text.split(separator: "\n").dropFirst()
        #expect(lines.map { String($0.prefix(8)) } == Array(all.prefix(2)), "\(result)")
        for line in lines { #expect(line.hasSuffix("  4 items, 12 B"), "\(result)") }
    }

    @Test("an item that is gone, or that no snapshot holds, and one in a snapshot of evicted files")
    func others() throws {
        let content = String(repeating: "0123456789abcdef", count: 20_000)
        let backup = try backup {
            File("file", content)
            File("gone", "text")
        }
        let file = backup("file")
        let gone = backup("gone")
        try backup.create()
        try backup.runSuccessfully("evict", file)
        try tool("rm", gone)
        let all = try identifiers(backup)
        let one = try backup.run("snapshots", gone, exits: 0)
        #expect(one.text.split(separator: "\n").count == 2, "\(one)")
        let none = try backup.run(
            "snapshots", backup("none"), exits: 0, says: "/none: is in no snapshot of this backup")
        #expect(none.text == "", "\(none)")
        let kept = try backup.runSuccessfully("snapshots", file).split(separator: "\n")
        #expect(kept.dropFirst().map { String($0.prefix(8)) } == all, "\(kept)")
        #expect(kept.last?.contains("  keeps evicted files") == true, "\(kept)")
        let json = try backup.runSuccessfully("snapshots", "--json", gone)
        #expect(json.hasPrefix(#"{"version":1,"snapshot":""#), "\(json)")
        #expect(json.contains(#","items":1,"bytes":4,"modified":"20"#), "\(json)")
    }

    @Test(
        "the versions of a file, typed as for restore, have its size and time, and equal ones a mark"
    )
    func versions() throws {
        let backup = try backup(of: tree)
        for date in ["2020-02-03 04:05", "2020-02-03 04:05", "2021-03-04 05:06"] {
            try tool("touch", "-d", date, backup("kept"))
            try backup.create()
        }
        try tool("ln", "-s", backup.source, backup.base.appending("link"))
        var command = backup.command(["snapshots", "link/../link/kept"])
        command.workingDirectory = backup.base
        command.environment["TZ"] = "UTC"
        let result = try command.run()
        let ends = result.text.split(separator: "\n").dropFirst()
            .map { $0.split(separator: "Z").last?.drop { $0 == " " } ?? "" }
        #expect(
            ends == ["4 B, 2020-02-03 04:05", "4 B, 2020-02-03 04:05  =", "4 B, 2021-03-04 05:06"],
            "\(result)")
    }

    @Test("a snapshot that cannot be read is named, with exit code 3")
    func damaged() throws {
        let backup = try backup(of: tree)
        for _ in 0..<2 { try backup.create() }
        let result = try backup.command(
            ["snapshots", backup("kept")],
            before: """
                if [ "$1" = ls ] && [ ! -e "\(backup.base)/seen" ]; then
                    touch "\(backup.base)/seen"; echo 'Fatal: id not found in repository' >&2; exit 1
                fi
                """
        ).run(exits: 3)
        #expect(result.text.split(separator: "\n").count == 2, "\(result)")
        #expect(result.errorText.contains("kept: may be in a snapshot: "), "\(result)")
    }

    @Test("deleted, newly excluded and no longer excluded are told apart, by exact names")
    func kinds() throws {
        let gone = FileName([0x67, 0xFF])
        let new = FileName([0x67, 0xFE, 0x0A])
        let backup = try backup {
            File(gone, "text")
            File("same", "text")
            File("a.b", "text")
            Directory("a") { File("changed", "text") }
            File("marked", "text")
            Directory("unmarked") { File("inside", "text") }
        }
        try backup.exclude(backup("unmarked"))
        try backup.create()
        let first = try #require(try backup.snapshotIdentifiers().first)
        try tool("rm", backup.source.appending(gone))
        try Tree { File(new, "text") }.create(in: backup.source)
        try shell(#"echo more >> "$1""#, backup("a/changed"))
        try backup.include(backup("unmarked"))
        try backup.exclude(backup("marked"))
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
        try backup.run(
            "diff", first, "latest", "--json", exits: 0,
            prints: #"{"version":1,"difference":"deleted","path":null,"pathBase64":""#,
            #""sizeBefore":4,"sizeAfter":9"#)
        // Backwards, it is the other way round.
        try backup.run(
            "diff", "latest", first, exits: 0,
            prints: "newly-excluded \(backup.source)/unmarked/inside")
    }
}
