import SystemPackage
import TestSupport
import Testing

@Suite("Forgetting", .cleansUp)
struct ForgetTests {
    private static let tree = Tree {
        Directory("one") { File("file", "text") }
        Directory("two") { File("file", "text") }
    }

    @Test("two sets of SOURCEs, other machines and other programs are left alone")
    func sets() throws {
        let backup = try backup(of: Self.tree)
        let (one, two) = (backup("one"), backup("two"))
        for _ in 0..<2 {
            try backup.runSuccessfully("create", one)
            try backup.runSuccessfully("create", two)
        }
        try backup.restic("backup", one)
        try backup.restic("backup", "--host", "elsewhere", "--tag", "resval-sources=0", one)
        try backup.run("forget", "--keep-last", "1", exits: 64)
        #expect(try backup.snapshotCount() == 6)
        try backup.run(
            "forget", one, "--keep-last", "1", "--dry-run", exits: 0,
            prints: "snapshots: 1 kept, 1 would be removed")
        #expect(try backup.snapshotCount() == 6)
        try backup.runSuccessfully("forget", one, "--keep-last", "1")
        #expect(try backup.snapshotCount() == 5)
        try backup.runSuccessfully("forget", "--all", "--keep-last", "1")
        #expect(try backup.snapshotCount() == 4)
        try backup.run("forget", backup.source, "--keep-last", "1", exits: 1)
    }

    @Test("without a rule nothing is done, and rules that make no sense are refused")
    func usage() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        for arguments in [
            [], ["--keep-last", "0"], ["--keep-within", "soon"], ["--keep-daily", "-2"],
            ["--all", "--keep-last", "1", "\(backup.source)"],
        ] {
            try backup.command(["forget"] + arguments).run(exits: 64)
        }
        #expect(try backup.snapshotCount() == 1)
    }

    @Test("snapshots that are held stay")
    func held() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try backup.restic("tag", "--add", "resval-kept", "latest")
        for _ in 0..<3 { try backup.create() }
        #expect(try backup.forget() == 2)
    }
}
