import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A repository, and the clock it is used by.
private struct ClockedBackup {
    let source: FilePath
    let target: FilePath
    /// The command with these arguments.
    let command: ([any CommandArgument]) throws -> Command

    /// Runs `resval-backup` by a clock that is off.
    ///
    /// - Parameter offset: of `faketime`, such as `+3d`.
    func run(_ offset: String, _ arguments: any CommandArgument...) throws -> CommandResult {
        var command = try command(arguments)
        let words = ["-m", "-f", offset].map { Array($0.utf8) }
        command.arguments = words + [command.executable.bytes] + command.arguments
        command.executable = try #require(FilePath.tool("faketime"))
        command.environment["DONT_FAKE_MONOTONIC"] = "1"
        return try command.run()
    }

    /// Makes a snapshot.
    ///
    /// - Returns: its identifier's first digits.
    func create(_ offset: String = "+0d", exits code: Int32 = 0) throws -> Substring {
        let result = try run(offset, "create", source)
        #expect(result.exitCode == code, "\(result)")
        return result.text.dropFirst("snapshot ".count).prefix(8)
    }

    /// The identifiers of the snapshots there are.
    func snapshots(_ offset: String = "+0d") throws -> [Substring] {
        try snapshotIdentifiers(in: run(offset, "snapshots", "--json").text).map { $0.prefix(8) }
    }

    func latest(_ offset: String = "+0d") throws -> Substring? {
        try snapshotIdentifiers(in: run(offset, "show", "latest", "--json").text).first?.prefix(8)
    }
}

/// Calls `body` with a repository.
private func withClocks(of tree: Tree, _ body: (ClockedBackup) throws -> Void) throws {
    try require(.tool("faketime"))
    try withBackup(of: tree) { backup in
        // restic asks the kernel for the time, and not the library that faketime takes the place of.
        let script = """
            if [ "$1" = backup ]; then
                shift
                set -- backup --time "$(date '+%Y-%m-%d %H:%M:%S')" "$@"
            fi
            """
        try body(
            ClockedBackup(source: backup.source, target: backup.target) {
                try backup.command($0, before: script)
            })
    }
}

@Suite("Clocks that are wrong")
struct ClockTests {
    private static let tree = Tree {
        for number in 0..<10 { File(FileName(Array("file\(number)".utf8)), "old") }
    }

    @Test("what is made by a clock that is behind is the newest, and is not forgotten")
    func behind() throws {
        try withClocks(of: Self.tree) { backup in
            let before = [try backup.create(), try backup.create()]
            let made = try backup.create("-9000d")
            #expect(try backup.latest("-9000d") == made)
            let forgotten = try backup.run("-9000d", "forget", "--keep-last", "1")
            #expect(forgotten.exitCode == 0, "\(forgotten)")
            #expect(forgotten.errorText.contains("dated in the future"))
            // By that clock all others are from the future.
            #expect(try Set(backup.snapshots("-9000d")) == Set(before + [made]))
            // With the clock set right.
            #expect(try backup.latest() == made)
            let next = try backup.create()
            #expect(try backup.latest() == next)
            // Set right, it passed over 9000 days.
            _ = try backup.run("+0d", "forget", "--keep-last", "2")
            #expect(try Set(backup.snapshots()) == Set(before + [made, next]))
            #expect(try backup.run("+0d", "accept").exitCode == 0)
            let last = try backup.run("+0d", "forget", "--keep-last", "2")
            #expect(try Set(backup.snapshots()).count == 2, "\(last)")
            #expect(last.text.contains("keep    \(made)"), "\(last)")
        }
    }

    @Test("one snapshot from the future is named, and neither the latest nor decides anything")
    func ahead() throws {
        try withClocks(of: Self.tree) { backup in
            let old = try backup.create()
            let future = try backup.create("+3000d")
            #expect(try backup.latest() == old)
            try Tree { File("file10", "new") }.create(in: backup.source)
            let result = try backup.run("+0d", "create", backup.source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.errorText.contains("snapshot \(future) is dated in the future"))
            let new = result.text.dropFirst("snapshot ".count).prefix(8)
            #expect(try backup.latest() == new)
            let restored = try backup.run("+0d", "restore", "latest", "--target", backup.target)
            #expect(restored.exitCode == 0, "\(restored)")
            #expect(restored.errorText.contains("dated in the future"))
            let place = backup.target.pushing(FilePath(root: nil, backup.source.components))
            #expect(try tool("cat", place.appending("file10")) == "new")
            let list = try backup.run("+0d", "snapshots").text
            #expect(
                list.split(separator: "\n").filter { $0.contains("(dated in the future)") }
                    .map { $0.prefix(8) } == [future], "\(list)")
            let shown = try backup.run("+0d", "show", String(future)).text
            #expect(shown.contains("dated in the future: never the latest"), "\(shown)")
            let forgotten = try backup.run("+0d", "forget", "--keep-daily", "1")
            #expect(forgotten.text.contains("keep    \(new)"), "\(forgotten)")
            #expect(try Set(backup.snapshots()) == [future, new])
            // When that day has come it is still not the latest.
            #expect(try backup.latest("+3001d") == new)
        }
    }

    @Test("a clock that jumps ahead, twice, makes no history old before 30 days")
    func jump() throws {
        try withClocks(of: Self.tree) { backup in
            func forget(_ offset: String) throws -> CommandResult {
                let result = try backup.run(offset, "forget", "--keep-within", "1d")
                #expect(result.exitCode == 0, "\(result)")
                return result
            }
            let before = [try backup.create("-20d"), try backup.create()]
            let result = try backup.run("+1500d", "create", backup.source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                result.errorText.contains("is more than 30 days older; all earlier ones are kept"))
            var made = [result.text.dropFirst("snapshot ".count).prefix(8)]
            let kept = try forget("+1500d").text
            #expect(kept.contains("made before the clock passed over 30 days"), "\(kept)")
            let shown = try backup.run("+1500d", "show", "latest").text
            #expect(
                shown.contains(", and all before it: the clock passed over 30 days"), "\(shown)")
            made.append(try backup.create("+1525d"))
            _ = try forget("+1525d")
            #expect(try Set(backup.snapshots("+1525d")) == Set(before + made))
            made.append(try backup.create("+1600d"))
            made.append(try backup.create("+1620d"))
            _ = try forget("+1620d")
            // Spans are counted from the newest snapshot that is older than a second, so what was
            // made after the second jump may go or stay.
            #expect(try Set(backup.snapshots("+1620d")).isSuperset(of: before + made[..<2]))
            let last = try backup.create("+1631d")
            let forgotten = try forget("+1631d")
            let left = try Set(backup.snapshots("+1631d"))
            #expect(
                left.contains(last) && left.isDisjoint(with: before + made[..<3]), "\(forgotten)")

            _ = try backup.create("+1700d")
            _ = try forget("+1700d")
            #expect(try Set(backup.snapshots("+1700d")).isSuperset(of: left))
            #expect(try backup.run("+1700d", "accept").exitCode == 0)
            _ = try backup.run("+1700d", "forget", "--keep-last", "1")
            #expect(try backup.snapshots("+1700d").count == 1)
        }
    }

    @Test("a clock that was some hours ahead decides nothing either")
    func hoursAhead() throws {
        try withClocks(of: Self.tree) { backup in
            let ahead = try backup.create("+5h")
            let new = try backup.create()
            #expect(try backup.latest() == new)
            let forgotten = try backup.run("+0d", "forget", "--keep-last", "1")
            #expect(try backup.snapshots() == [new], "\(ahead): \(forgotten)")
        }
    }

    @Test("one from the future hides none that has shrunk")
    func shrunken() throws {
        try withClocks(of: Self.tree) { backup in
            _ = try backup.create()
            _ = try backup.create("+3000d")
            try tool("sh", "-c", "rm \"$1\"/file[1-9]", "sh", backup.source)
            let shrunk = try backup.create(exits: 3)
            let forgotten = try backup.run("+0d", "forget", "--keep-last", "1")
            #expect(forgotten.exitCode == 3, "\(forgotten)")
            #expect(forgotten.errorText.contains("\(shrunk)"))
            #expect(try backup.run("+0d", "accept").text.contains(shrunk))
        }
    }

    @Test("one from the future of another client hides none that has shrunk")
    func otherClient() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try tool("sh", "-c", "rm \"$1\"/file[1-9]", "sh", backup.source)
            #expect(try backup.run("create", backup.source).exitCode == 3)
            try backup.makeForeignSnapshot(of: backup.source, "--time", "2190-01-01 00:00:00")
            let forgotten = try backup.run("forget", "--keep-last", "1")
            #expect(forgotten.exitCode == 3, "\(forgotten)")
            #expect(forgotten.errorText.contains("may cover much less"), "\(forgotten)")
        }
    }
}
