import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Forgetting while files are evicted", .cleansUp)
struct ForgetEvictedTests {
    private static func noise() -> [UInt8] { (0..<400_000).map { _ in .random(in: 1...255) } }

    /// What the packs of the repository take, in bytes.
    private func packedSize(_ backup: BackupFixture) throws -> Int {
        let words = try tool("du", "-sb", backup.repository.appending("data"))
        return try #require(words.split(separator: "\t").first.flatMap { Int($0) })
    }

    @Test("forgetting and pruning leave the only copy of an evicted file, and remove the rest")
    func prune() throws {
        let content = Self.noise()
        let backup = try backup {
            File("evicted", content).purgeable()
            File("replaced", Self.noise())
        }
        let file = backup("evicted")
        let replaced = backup("replaced")
        try backup.runSuccessfully("evict", file)
        try backup.create()
        try tool("dd", "if=/dev/urandom", "of=\(replaced)", "bs=400000", "count=1")
        try backup.create()
        let before = try packedSize(backup)
        try backup.runSuccessfully("forget", "--keep-last", "1", "--prune")
        #expect(try packedSize(backup) < before - 300_000)
        #expect(try backup.snapshotsOfRestic().count == 2)
        let held = try backup.restic("snapshots", "--json").split(separator: "\"resval-kept\"")
        #expect(held.count == 2)
        try tool("rm", "-rf", backup.base.appending("cache"))
        try backup.runSuccessfully("download", file)
        #expect(try contentsOfFile(file) == content)
        #expect(try file.value(for: .isPurgeable) == true)
    }

    @Test(
        "the last copy of what is evicted into another repository is held, also beside zeros or a part",
        arguments: [
            ":",
            #"chmod 644 "$1""#,
            #"setfattr -x "$(getfattr -m user.resval.evicted "$1" | sed -n 2p)" "$1""#,
            #"printf x | dd of="$1" conv=notrunc status=none"#,
        ])
    func withoutContent(change: String) throws {
        try require(.root, .tool("getfattr"))
        let content = Self.noise()
        let backup = try backup {
            File("file", content).permissions(0o644)
                .modified(FileTime(seconds: 1_234_567_890, nanoseconds: 1))
        }
        let file = backup("file")
        let other = backup.base.appending("other")
        try backup.runSuccessfully("init", "--repository", other)
        try backup.create()
        try backup.runSuccessfully("evict", "--repository", other, file)
        try shell(change, file)
        for _ in 0..<2 { try backup.create(exits: 3) }
        let forget = try backup.run("forget", "--keep-last", "1", "--prune").text
        let held = try #require(
            forget.split(separator: "\n").first { $0.contains("held for \(backup.source)") })
        try tool("rm", "-rf", other)
        try backup.runSuccessfully(
            "restore", "--target", backup.target, "--snapshot",
            String(held.split(separator: " ")[1]))
        #expect(try contentsOfFile(backup.restored(file)) == content)
    }
}
