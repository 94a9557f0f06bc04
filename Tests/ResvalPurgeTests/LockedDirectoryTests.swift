import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Encrypted directories without their key, when purging", .cleansUp)
struct LockedDirectoryTests {
    private let content = Tree {
        Directory("program") { File("file", block) }
        Directory(".git") { File("file", block) }
        File("data.sqlite", block)
        File("data.sqlite-wal", block)
        File("other", block)
    }

    @Test("are kept with all that is in them, and so is a unit that contains one")
    func kept() throws {
        let (root, vault, turn) = try encryptedDirectory()
        let home = PurgeHome(home: root)
        try tool("mkdir", "-p", home("unit"))
        try content.create(in: vault)
        // The caches directory is encrypted, and so is a part of a marked unit.
        let inner = home("unit/inner")
        try tool("mkdir", inner)
        try tool("python3", fscryptHelper, "encrypt", inner)
        try Tree { File("other", block) }.create(in: inner)
        let mark = ["-n", "user.resval.isPurgeable", "-v", "true", "\(home("unit"))"]
        try tool("setfattr", arguments: mark)
        let arguments: [any CommandArgument] = [
            "plan", ".", "--cache", vault, "--free", "1M", "--min-age", "0",
        ]
        let open = try home.run(arguments: arguments)
        #expect(open.text.contains("\(vault)/other"), "\(open)")
        #expect(open.text.contains("\(home("unit"))"), "\(open)")
        try turn("lock")
        try tool("python3", fscryptHelper, "lock", inner)
        let locked = try home.run(arguments: arguments)
        #expect(!locked.text.contains("vault"), "\(locked)")
        #expect(!locked.text.contains("unit/"), "\(locked)")
        _ = try home.run(
            "run", ".", "--cache", vault, "--free", "1M", "--partial", "--min-age", "0")
        try turn("unlock")
        try tool("python3", fscryptHelper, "unlock", inner)
        for name in ["vault/other", "vault/program/file", "unit/inner/other"] {
            #expect(home(name).exists, "\(name)")
        }
    }

    @Test("that are locked after the plan are kept by what was planned")
    func lockedSince() throws {
        let (root, vault, turn) = try encryptedDirectory()
        let home = PurgeHome(home: root)
        try Tree { Directory("app") { Directory("unit") { File("file", block) } } }.create(
            in: vault)
        let planned = try home.run(
            "plan", ".", "--cache", vault, "--free", "1B", "--min-age", "0", "--output",
            "plan.json")
        #expect(planned.text.contains("/app/unit"), "\(planned)")
        try turn("lock")
        try home.run("run", "plan.json", "--cache", vault, "--min-age", "0").expect(exits: 1)
        try turn("unlock")
        #expect(vault.appending("app/unit/file").exists)
    }
}
