import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Encrypted directories without their key", .cleansUp)
struct LockedDirectoryTests {
    private static let content = Tree {
        Directory("below") { SymbolicLink("link", to: "nowhere") }
        SymbolicLink("link", to: "nowhere")
        for number in 0..<9 { File("many/file\(number)", "text") }
    }

    /// Makes a backup of an encrypted filesystem, and a function that locks the directory `vault` in it and
    /// unlocks it.
    private func vault() throws -> (BackupFixture, FilePath, (String) throws -> Void) {
        let backup = try backup {}
        let (root, vault, turn) = try encryptedDirectory()
        try Self.content.create(in: vault)
        try Tree { File("plain", "text") }.create(in: root)
        return (backup, root, turn)
    }

    private func lines(_ result: CommandResult) -> [Substring] {
        result.errorText.split(separator: "\n")
    }

    private func holds(_ backup: BackupFixture) throws -> String {
        let shown = try backup.runSuccessfully("show", "latest")
        return shown.split(separator: "\n").filter { $0.hasPrefix("holds:") }.joined(
            separator: "\n")
    }

    @Test("a locked directory is one entry, and the newest snapshot that has what is in it is held")
    func held() throws {
        let (backup, root, turn) = try vault()
        let vault = root.appending("vault")
        try backup.runSuccessfully("create", root)
        let first = try #require(try backup.originals().first)
        try turn("lock")
        var holds: [String] = []
        for _ in 0..<3 {
            let result = try backup.run("create", root, exits: 3)
            #expect(lines(result).count == 1, "\(result)")
            #expect(
                result.errorText.hasPrefix(
                    "resval-backup: \(vault): is encrypted, and its key is not there"))
            holds.append(try self.holds(backup))
        }
        #expect(holds[0].contains("\(vault): not in the newest snapshot since "), "\(holds)")
        #expect(Set(holds).count == 1, "\(holds)")
        try backup.run("show", "latest", exits: 0, prints: "lacks:    \(vault)\n")
        let stored = try backup.restic("ls", "latest").split(separator: "\n")
        #expect(stored.filter { $0.hasPrefix("\(vault)") } == ["\(vault)"], "\(stored)")
        let plan = try backup.run("plan", root, exits: 3)
        #expect(!plan.text.contains("\(vault)/"), "\(plan)")
        try backup.runSuccessfully("forget", "--keep-last", "1")
        #expect(try backup.originals().first == first)
        #expect(try backup.snapshotCount() == 2)
        _ = try backup.run("accept")
        try backup.runSuccessfully("forget", "--keep-last", "1")
        #expect(try backup.originals().first == first)
        try turn("unlock")
        let whole = try backup.run("create", root)
        #expect(whole.exitCode == 0 && whole.errorText == "", "\(whole)")
        #expect(try backup.forget() == 1)
    }

    @Test("what is in a directory that is locked while restic works has not vanished")
    func meanwhile() throws {
        let (backup, root, _) = try vault()
        let vault = root.appending("vault")
        try backup.runSuccessfully("create", root)
        let first = try #require(try backup.originals().first)
        let result = try backup.command(
            ["create", root], beforeBackup: "python3 \(fscryptHelper) lock \(vault)"
        ).run(exits: 3)
        #expect(lines(result).count == 1, "\(result)")
        #expect(result.errorText.contains("\(vault): is encrypted, and its"), "\(result)")
        try backup.runSuccessfully("forget", "--keep-last", "1")
        #expect(try backup.originals().first == first)
    }

    @Test("a directory counts as locked while something in it is still open")
    func open() throws {
        let (backup, root, _) = try vault()
        let vault = root.appending("vault")
        let result = try backup.script(
            """
            exec 9< "$1/many/file1"
            python3 "$2" lock "$1"
            "$RESVAL" create "$3"
            """, vault, fscryptHelper, root)
        #expect(result.exitCode == 3, "\(result)")
        #expect(lines(result).count == 1, "\(result)")
        #expect(result.errorText.contains("\(vault): is encrypted, and its"), "\(result)")
        let stored = try backup.restic("ls", "latest")
        #expect(!stored.contains("\(vault)/"), "\(stored)")
    }

    @Test("a locked SOURCE stops no backup, and a SOURCE in it is not missing")
    func sources() throws {
        let (backup, root, turn) = try vault()
        let vault = root.appending("vault")
        let sources = [vault, root.appending("plain"), vault.appending("many")]
        try backup.command(["create"] + sources).runSuccessfully()
        try turn("lock")
        let result = try backup.command(["create"] + sources).run(exits: 3)
        #expect(lines(result).count == 2, "\(result)")
        for source in [vault, sources[2]] {
            #expect(result.errorText.contains("\(source): is encrypted, and its"), "\(result)")
        }
        try backup.restore(exits: 3, says: "\(vault): is not in snapshot ")
    }

    @Test("a directory is read where a policy of the first version has its key in the session")
    func session() throws {
        let (backup, root, _) = try vault()
        let old = root.appending("old")
        let result = try backup.script(
            """
            mkdir "$1" && python3 "$2" old "$1" sh -c '
                echo text > "$0/file" && mkdir "$0/below" && "$RESVAL" create "$0"
            ' "$1" && echo 2 > /proc/sys/vm/drop_caches && "$RESVAL" create "$1"
            """, old, fscryptHelper)
        #expect(result.exitCode == 3, "\(result)")
        #expect(lines(result).count == 1, "\(result)")
        #expect(result.text.contains("3 items"), "\(result)")
        #expect(result.text.contains("1 item, "), "\(result)")
    }
}
