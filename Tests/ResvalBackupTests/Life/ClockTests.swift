import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A repository, and the clock it is used by.
struct ClockedBackup {
    let backup: BackupFixture
    /// The command with these arguments.
    let command: ([any CommandArgument]) throws -> Command

    /// Runs `resval-backup` by a clock that is off.
    ///
    /// - Parameter offset: of `faketime`, such as `+3d`.
    @discardableResult
    func run(
        _ offset: String, _ arguments: any CommandArgument..., exits code: Int32 = 0,
        says errors: String..., prints outputs: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        var command = try command(arguments)
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
    func create(_ offset: String = "+0d", exits code: Int32 = 0) throws -> String {
        let result = try run(offset, "create", backup.source, exits: code)
        return String(result.text.dropFirst("snapshot ".count).prefix(8))
    }

    /// The first digits that the identifiers of the snapshots there are had when they were made.
    func snapshots() throws -> Set<String> { Set(try backup.originals()) }

    func latest(_ offset: String = "+0d") throws -> String? {
        try snapshotIdentifiers(in: run(offset, "show", "latest", "--json").text).first
            .map { String($0.prefix(8)) }
    }
}

/// Makes a repository and a clock.
func clockedBackup(of tree: Tree) throws -> ClockedBackup {
    try require(.tool("faketime"))
    let backup = try backup(of: tree)
    // restic asks the kernel for the time, and not the library that faketime takes the place of.
    let script = """
        if [ "$1" = backup ]; then
            shift
            set -- backup --time "$(date '+%Y-%m-%d %H:%M:%S')" "$@"
        fi
        """
    return ClockedBackup(backup: backup) { try backup.command($0, before: script) }
}

@Suite("Clocks that are wrong", .cleansUp)
struct ClockTests {
    private static let tree = Tree { for number in 0..<10 { File("file\(number)", "old") } }

    @Test(
        "what is made by a clock that is behind is the newest, and nothing is forgotten meanwhile")
    func behind() throws {
        let backup = try clockedBackup(of: Self.tree)
        let before = [try backup.create("-2d"), try backup.create("-1d")]
        let result = try backup.run("-9000d", "create", backup.backup.source)
        #expect(result.errorText.contains("made before, is newer, or more than 30 days older"))
        let made = String(result.text.dropFirst("snapshot ".count).prefix(8))
        #expect(try backup.latest("-9000d") == made)
        try backup.run("-9000d", "forget", "--keep-last", "1", prints: "dated in the future")
        #expect(try backup.snapshots() == Set(before + [made]))
        // Set right, it passed over 9000 days.
        let next = try backup.create()
        #expect(try backup.latest() == next)
        _ = try backup.run("+0d", "forget", "--keep-last", "2")
        #expect(try backup.snapshots() == Set(before + [made, next]))
        try backup.run("+0d", "accept")
        let last = try backup.run("+0d", "forget", "--keep-last", "2")
        #expect(try backup.snapshots() == [before[1], next], "\(last)")
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
        let backup = try clockedBackup(of: Self.tree)
        _ = try backup.create()
        let future = try backup.create("+3000d")
        try Tree { File("file10", "new") }.create(in: backup.backup.source)
        let new = try backup.create()
        #expect(try backup.latest() == new)
        let list = try backup.run("+0d", "snapshots").text
        #expect(
            list.split(separator: "\n").filter { $0.contains("(dated in the future)") }
                .map { $0.prefix(8) } == [future[...]], "\(list)")
        for _ in 0..<2 {
            try backup.run("+0d", "forget", "--keep-last", "1", prints: "snapshots: 3 kept")
        }
        let accepted = try backup.run("+0d", "accept")
        #expect(
            accepted.text.hasSuffix(
                "is accepted\n1 snapshot dated after it got an earlier time\n"))
        #expect(!(try backup.run("+0d", "snapshots").text.contains("in the future")))
        try backup.run("+0d", "accept", exits: 1)
        _ = try backup.run("+0d", "forget", "--keep-last", "1")
        #expect(try backup.snapshots() == [new])
    }

    @Test("a clock that jumps five years ahead makes no history old")
    func jump() throws {
        let backup = try clockedBackup(of: Self.tree)
        func forget(_ offset: String) throws -> String {
            try backup.run(offset, "forget", "--keep-last", "1").text
        }
        let before = [try backup.create("-20d"), try backup.create()]
        var made = [try backup.create("+1500d")]
        #expect(try forget("+1500d").contains("held: made before the clock jumped"))
        let shown = try backup.run("+1500d", "show", "latest").text
        #expect(
            shown.contains("holds:    all snapshots made before the clock jumped, "), "\(shown)"
        )
        for offset in ["+1525d", "+1540d"] {
            made.append(try backup.create(offset))
            _ = try forget(offset)
        }
        #expect(try backup.snapshots().isSuperset(of: before))
        try backup.run("+1540d", "accept")
        _ = try forget("+1540d")
        #expect(try backup.snapshots() == [made[2]])
    }
}
