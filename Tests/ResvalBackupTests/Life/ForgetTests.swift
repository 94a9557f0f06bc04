import SystemPackage
import TestSupport
import Testing

@Suite("Forgetting")
struct ForgetTests {
    private static let tree = Tree {
        Directory("one") { File("file", "text") }
        Directory("two") { File("file", "text") }
    }

    private func count(_ backup: BackupFixture) throws -> Int {
        try backup.runSuccessfully("snapshots", "--json").split(separator: "\n").count
    }

    @Test("two sets of SOURCEs, other machines and other programs are left alone")
    func sets() throws {
        try withBackup(of: Self.tree) { backup in
            let (one, two) = (backup.source.appending("one"), backup.source.appending("two"))
            for _ in 0..<2 {
                try backup.runSuccessfully("create", one)
                try backup.runSuccessfully("create", two)
            }
            try backup.restic("backup", one)
            try backup.restic("backup", "--host", "elsewhere", "--tag", "resval-sources=0", one)
            try backup.run("forget", "--keep-last", "1", exits: 64)
            #expect(try count(backup) == 6)
            let dry = try backup.runSuccessfully("forget", one, "--keep-last", "1", "--dry-run")
            #expect(dry.contains("snapshots: 1 kept, 1 would be removed"), "\(dry)")
            #expect(try count(backup) == 6)
            try backup.runSuccessfully("forget", one, "--keep-last", "1")
            #expect(try count(backup) == 5)
            try backup.runSuccessfully("forget", "--all", "--keep-last", "1")
            #expect(try count(backup) == 4)
            try backup.run("forget", backup.source, "--keep-last", "1", exits: 1)
        }
    }

    @Test("without a rule nothing is done, and rules that make no sense are refused")
    func usage() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.create()
            for arguments in [
                [], ["--keep-last", "0"], ["--keep-within", "soon"], ["--keep-daily", "-2"],
                ["--all", "--keep-last", "1", "\(backup.source)"],
            ] {
                try backup.command(["forget"] + arguments).run(exits: 64)
            }
            #expect(try count(backup) == 1)
        }
    }

    @Test("snapshots that are held stay")
    func held() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.create()
            try backup.restic("tag", "--add", "resval-kept", "latest")
            for _ in 0..<3 { try backup.create() }
            try backup.runSuccessfully("forget", "--keep-last", "1")
            #expect(try count(backup) == 2)
        }
    }
}
