import SystemPackage
import TestSupport
import Testing

@testable import Backups

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
            says: "is not in the repository yet", prints: "snapshots: 1 kept, 1 would be removed")
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

    @Test("however much restic prints about the snapshots, it is read")
    func longAnswer() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try backup.create() }
        let pad = #"case "$*" in *--dry-run*) head -c 70000000 /dev/zero | tr '\0' ' ';; esac"#
        try backup.command(["forget", "--keep-last", "1"], before: pad).run(exits: 0)
        #expect(try backup.snapshotCount() == 1)
        for _ in 0..<2 { try backup.create() }
        let cut = #"case "$*" in *--dry-run*) "$REAL" "$@" | head -c -3; exit 0;; esac"#
        try backup.command(["forget", "--keep-last", "1"], before: cut).run(exits: 1)
        #expect(try backup.snapshotCount() == 3)
    }

    @Test("rules that keep no snapshot yet remove none, and are told of")
    func noneKept() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try backup.create() }
        try backup.run(
            "forget", "--keep-tag", "month", exits: 0,
            says: "nothing is removed: restic's rules keep none (")
        #expect(try backup.snapshotCount() == 2)
        try backup.create("--tag", "month")
        try backup.runSuccessfully("forget", "--keep-tag", "month")
        #expect(try backup.snapshotCount() == 1)
    }

    @Test("a damaged snapshot that only the cache has whole is named, with the way on")
    func damagedOfOthers() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try backup.create() }
        try backup.restic("backup", "--host", "elsewhere", backup("one"))
        let foreign = try #require(try backup.snapshotsOfRestic().last).identifier
        try damageFiles(in: backup.repository.appending("snapshots"), "-name", foreign)
        let result = try backup.run(
            "forget", "--keep-last", "1", exits: 1,
            says: "snapshot \(foreign.prefix(8)) cannot be read: ")
        #expect(result.errorText.contains("resval-backup verify)"), "\(result)")
        #expect(!result.errorText.contains("run the command again"), "\(result)")
    }
}
