import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Forgetting while files are evicted")
struct ForgetEvictedTests {
    private static func noise() -> [UInt8] { (0..<400_000).map { _ in .random(in: 1...255) } }

    /// What the packs of the repository take, in bytes.
    private func packedSize(_ backup: BackupFixture) throws -> Int {
        let words = try tool("du", "-sb", backup.repository.appending("data"))
        return try #require(words.split(separator: "\t").first.flatMap { Int($0) })
    }

    /// How many snapshots hold evicted files.
    private func holdCount(_ backup: BackupFixture) throws -> Int {
        try backup.restic("snapshots", "--json").split(separator: "\"resval-kept\"").count - 1
    }

    @Test("forgetting and pruning leave the only copy of an evicted file, and remove the rest")
    func prune() throws {
        let content = Self.noise()
        let tree = Tree {
            File("evicted", content).purgeable()
            File("replaced", Self.noise())
        }
        try withBackup(of: tree) { backup in
            let file = backup.source.appending("evicted")
            let replaced = backup.source.appending("replaced")
            try backup.runSuccessfully("evict", file)
            try backup.create()
            try tool("dd", "if=/dev/urandom", "of=\(replaced)", "bs=400000", "count=1")
            try backup.create()
            let before = try packedSize(backup)
            try backup.runSuccessfully("forget", "--keep-last", "1", "--prune")
            #expect(try packedSize(backup) < before - 300_000)
            #expect(try backup.snapshotsOfRestic().count == 2)
            #expect(try holdCount(backup) == 1)
            try tool("rm", "-rf", backup.base.appending("cache"))
            try backup.runSuccessfully("download", file)
            #expect(try contentsOfFile(file) == content)
            #expect(try file.value(for: .isPurgeable) == true)
        }
    }

    @Test(
        "a repository keeps its last copy of what is evicted into another one, and says what it lacks"
    )
    func otherRepository() throws {
        let content = Self.noise()
        let tree = Tree {
            File("file", content).modified(FileTime(seconds: 1_234_567_890, nanoseconds: 1))
            File("small", "text")
        }
        try withBackup(of: tree) { backup in
            let file = backup.source.appending("file")
            let other = backup.base.appending("other")
            try backup.runSuccessfully("init", "--repository", other)
            try backup.create()
            // Incomplete, so that no other rule keeps it.
            let only = backup.source.appending("only")
            try tool("truncate", "-s", "1M", only)
            try tool("chmod", "0", only)
            try backup.create(exits: 3)
            try tool("rm", only)
            try backup.runSuccessfully("evict", "--repository", other, file)
            try tool("mv", file, backup.source.appending("moved"))
            for _ in 0..<2 {
                try backup.create(exits: 3, says: "moved: is not in the snapshot: is evicted")
            }
            // What they lost has been looked at.
            _ = try backup.run("accept")
            let forget = try backup.run(
                "forget", "--keep-last", "1", "--prune", exits: 0,
                prints: "last copy of evicted files")
            // The other repository is lost.
            try tool("rm", "-rf", other)
            try backup.run(
                "restore", "--target", backup.target, "--snapshot",
                try heldSnapshot(backup, forget.text), exits: 3,
                says: "/only: was missing, or could not")
            #expect(try contentsOfFile(backup.restored(file)) == content)
        }
    }

    @Test(
        "it keeps that copy, too, when what is stored of the file is zeros or a part",
        arguments: [
            #"chmod 644 "$1""#,
            #"setfattr -x "$(getfattr -m user.resval.evicted "$1" | sed -n 2p)" "$1""#,
            #"printf x | dd of="$1" conv=notrunc status=none"#,
        ])
    func withoutContent(change: String) throws {
        try require(.root, .tool("getfattr"))
        let content = Self.noise()
        let tree = Tree {
            File("file", content).permissions(0o644)
                .modified(FileTime(seconds: 1_234_567_890, nanoseconds: 1))
        }
        try withBackup(of: tree) { backup in
            let file = backup.source.appending("file")
            let other = backup.base.appending("other")
            try backup.runSuccessfully("init", "--repository", other)
            try backup.create()
            try backup.runSuccessfully("evict", "--repository", other, file)
            try shell(change, file)
            for _ in 0..<2 {
                try backup.create(exits: 3)
            }
            // A snapshot that cannot be read may hold it.
            let damaged = try backup.command(
                ["forget", "--keep-last", "1"],
                before: "case $1 in ls|cat) echo 'id 01 not found in repository' >&2; exit 1;; esac"
            ).run()
            #expect(damaged.text.hasSuffix(": 3 kept, 0 removed\n"), "\(damaged)")
            let forget = try backup.run("forget", "--keep-last", "1", "--prune")
            #expect(forget.text.contains("last copy of evicted files"), "\(forget)")
            try tool("rm", "-rf", other)
            try backup.runSuccessfully(
                "restore", "--target", backup.target, "--snapshot",
                try heldSnapshot(backup, forget.text))
            #expect(try contentsOfFile(backup.restored(file)) == content)
        }
    }

    private func heldSnapshot(_ backup: BackupFixture, _ lines: String) throws -> String {
        let line = try #require(
            lines.split(separator: "\n").first { $0.contains("last copy of evicted files") })
        return String(line.split(separator: " ")[1])
    }

    @Test("it keeps that copy, too, when the evicted file was moved to another SOURCE")
    func otherSource() throws {
        let content = Self.noise()
        let tree = Tree {
            File("a/file", content)
            File("a/small", "text")
            Directory("b") { File("small", "text") }
        }
        try withBackup(of: tree) { backup in
            let (a, b) = (backup.source.appending("a"), backup.source.appending("b"))
            let other = backup.base.appending("other")
            try backup.runSuccessfully("init", "--repository", other)
            try backup.runSuccessfully("create", a)
            try backup.runSuccessfully("evict", "--repository", other, a.appending("file"))
            try tool("mv", a.appending("file"), b.appending("file"))
            try backup.run("create", b, exits: 3)
            for _ in 0..<2 { _ = try backup.run("create", a) }
            _ = try backup.run("accept")
            try backup.run(
                "forget", "--keep-last", "1", "--dry-run", a, exits: 0,
                prints: "last copy of evicted files")
        }
    }
}
