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

    /// How many snapshots of all kinds there are.
    private func snapshotCount(_ backup: BackupFixture) throws -> Int {
        try backup.restic("snapshots", "--json").split(separator: "\"tree\":").count - 1
    }

    /// How many snapshots hold evicted files.
    private func holdCount(_ backup: BackupFixture) throws -> Int {
        try backup.restic("snapshots", "--json").split(separator: "resval-hold=").count - 1
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
            try backup.runSuccessfully("create", backup.source)
            try tool("dd", "if=/dev/urandom", "of=\(replaced)", "bs=400000", "count=1")
            try backup.runSuccessfully("create", backup.source)
            let before = try packedSize(backup)
            try backup.runSuccessfully("forget", "--keep-last", "1", "--prune")
            #expect(try packedSize(backup) < before - 300_000)
            #expect(try snapshotCount(backup) == 2)
            #expect(try holdCount(backup) == 1)
            try tool("rm", "-rf", backup.base.appending("cache"))
            try backup.runSuccessfully("download", file)
            #expect(try contentsOfFile(file) == content)
            #expect(try file.value(for: .isPurgeable) == true)
        }
    }
}
