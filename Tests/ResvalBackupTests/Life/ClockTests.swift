import SystemCalls
import SystemPackage
import TestSupport
import Testing

extension BackupFixture {
    /// Runs `resval-backup` by a clock that is off.
    ///
    /// - Parameter offset: of `faketime`, such as `+3d`.
    @discardableResult
    fileprivate func run(
        at offset: String, _ arguments: any CommandArgument..., exits code: Int32 = 0,
        says errors: String..., prints outputs: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        try require(.tool("faketime"))
        // restic asks the kernel for the time, and not the library that faketime takes the place of.
        let script = """
            if [ "$1" = backup ]; then
                shift
                set -- backup --time "$(date '+%Y-%m-%d %H:%M:%S')" "$@"
            fi
            """
        var command = try command(arguments, before: script)
        let words = ["-m", "-f", offset].map { Array($0.utf8) }
        command.arguments = words + [command.executable.bytes] + command.arguments
        command.executable = try #require(FilePath.tool("faketime"))
        command.environment["DONT_FAKE_MONOTONIC"] = "1"
        return try command.run(
            exits: code, says: errors, prints: outputs, sourceLocation: sourceLocation)
    }

    /// Makes a snapshot.
    ///
    /// - Returns: its identifier's first digits.
    fileprivate func make(at offset: String = "+0d") throws -> String {
        let result = try run(at: offset, "create", source)
        return String(result.text.dropFirst("snapshot ".count).prefix(8))
    }

    fileprivate func latest(at offset: String = "+0d") throws -> String? {
        let shown = try run(at: offset, "show", "latest", "--json").text
        return ResvalBackupTests.snapshotIdentifiers(in: shown).first.map { String($0.prefix(8)) }
    }
}

@Suite("Clocks that are wrong", .cleansUp)
struct ClockTests {
    private static let tree = Tree { for number in 0..<10 { File("file\(number)", "old") } }

    @Test(
        "what is made by a clock that is behind is the newest, and nothing is forgotten meanwhile")
    func behind() throws {
        let backup = try backup(of: Self.tree)
        let before = [try backup.make(at: "-2d"), try backup.make(at: "-1d")]
        let result = try backup.run(at: "-9000d", "create", backup.source)
        #expect(result.errorText.contains("made before, is newer, or more than 30 days older"))
        let made = String(result.text.dropFirst("snapshot ".count).prefix(8))
        #expect(try backup.latest(at: "-9000d") == made)
        try backup.run(at: "-9000d", "forget", "--keep-last", "1", says: "dated in the future")
        #expect(try Set(backup.originals()) == Set(before + [made]))
        // Set right, it passed over 9000 days.
        let next = try backup.make()
        #expect(try backup.latest() == next)
        _ = try backup.run(at: "+0d", "forget", "--keep-last", "2")
        #expect(try Set(backup.originals()) == Set(before + [made, next]))
        try backup.run(at: "+0d", "accept")
        let last = try backup.run(at: "+0d", "forget", "--keep-last", "2")
        #expect(try Set(backup.originals()) == [before[1], next], "\(last)")
    }

    @Test("one from the past gets the time of accept, and the others keep theirs")
    func past() throws {
        let backup = try backup(of: Self.tree)
        let before = [try backup.make(at: "-2d"), try backup.make(at: "-1d")]
        let made = try backup.make(at: "-9000d")
        let accepted = try backup.run(at: "+0d", "accept")
        #expect(
            accepted.text.hasSuffix(
                "is accepted\n1 snapshot with a wrong time got another\n"))
        _ = try backup.run(at: "+0d", "forget", "--keep-daily", "3")
        #expect(try Set(backup.originals()) == Set(before + [made]))
    }

    @Test("times are local with their offset for people, and UTC in JSON")
    func timeZone() throws {
        let backup = try backup { File("file", "text") }
        try backup.create()
        func output(_ arguments: [String]) throws -> String {
            try backup.command(arguments).setting(["TZ": "XST-05:30"]).runSuccessfully()
        }
        for arguments in [["snapshots"], ["show", "latest"]] {
            let text = try output(arguments)
            #expect(text.contains(/T[0-9:]{8}\+05:30/), "\(text)")
        }
        #expect(try output(["snapshots", "--json"]).contains(/"time":"[-T0-9:.]+Z"/))
    }

    @Test("one from the future stops forget, and accept gives it an earlier time")
    func ahead() throws {
        let backup = try backup(of: Self.tree)
        _ = try backup.make()
        let future = try backup.make(at: "+3000d")
        try Tree { File("file10", "new") }.create(in: backup.source)
        let new = try backup.make()
        #expect(try backup.latest() == new)
        let list = try backup.run(at: "+0d", "snapshots").text
        #expect(
            list.split(separator: "\n").filter { $0.contains("(dated in the future)") }
                .map { $0.prefix(8) } == [future[...]], "\(list)")
        for _ in 0..<2 {
            try backup.run(at: "+0d", "forget", "--keep-last", "1", prints: "snapshots: 3 kept")
        }
        let accepted = try backup.run(at: "+0d", "accept")
        #expect(
            accepted.text.hasSuffix(
                "is accepted\n1 snapshot with a wrong time got another\n"))
        #expect(!(try backup.run(at: "+0d", "snapshots").text.contains("in the future")))
        try backup.run(at: "+0d", "accept", exits: 1)
        _ = try backup.run(at: "+0d", "forget", "--keep-last", "1")
        #expect(try Set(backup.originals()) == [new])
    }

    @Test("a run and status tell of a wrong date that stops forget, until it is accepted")
    func status() throws {
        let backup = try configuredBackup { for number in 0..<10 { File("file\(number)", "old") } }
        try backup.configure(backup.usual + "verify = \"never\"\n[retention]\nkeep-last = 1\n")
        try backup.run(at: "+3000d", "run")
        try backup.run(at: "+0d", "run", says: "nothing is removed: snapshot ", "in the future")
        try backup.run(
            "status", exits: 3, prints: "\nforget: nothing is removed: snapshot ", "accept)\n")
        try backup.run(at: "+0d", "accept")
        try backup.run("status", exits: 0)
    }

    @Test("a clock that jumps five years ahead makes no history old")
    func jump() throws {
        let backup = try backup(of: Self.tree)
        func forget(_ offset: String) throws -> String {
            try backup.run(at: offset, "forget", "--keep-last", "1").text
        }
        let before = [try backup.make(at: "-20d"), try backup.make()]
        var made = [try backup.make(at: "+1500d")]
        #expect(try forget("+1500d").contains("held: made before the clock jumped"))
        let shown = try backup.run(at: "+1500d", "show", "latest").text
        #expect(
            shown.contains("holds:    all snapshots made before the clock jumped, "), "\(shown)"
        )
        for offset in ["+1525d", "+1540d"] {
            made.append(try backup.make(at: offset))
            _ = try forget(offset)
        }
        #expect(try Set(backup.originals()).isSuperset(of: before))
        try backup.run(at: "+1540d", "accept")
        _ = try forget("+1540d")
        #expect(try Set(backup.originals()) == [made[2]])
    }
}
