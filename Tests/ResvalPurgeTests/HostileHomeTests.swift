import SystemPackage
import TestSupport
import Testing

@Suite("Homes of others and state of others", .cleansUp)
struct HostileHomeTests {
    private static let tree = Tree { File("home/.cache/app/file", block) }

    @Test("that hold anything but settings neither stop root's purge nor change it")
    func things() throws {
        let base = try temporaryDirectory(containing: Self.tree)
        let home = PurgeHome(home: base.appending("home"))
        let homes = try HostileHomes(in: base, root: home.home)
        for words in [
            ["plan", ".", "--free", "1G", "--min-age", "0"], ["status", "."],
            ["run", ".", "--free", "1B", "--min-age", "0", "--dry-run"],
        ] {
            let alone = try home.run(arguments: words)
            let result = try homes.meeting(home.command(arguments: words)).run()
            #expect(result.exitCode == alone.exitCode, "\(result) \(alone)")
            #expect(result.errorText == alone.errorText)
            #expect(result.text.contains("file") == alone.text.contains("file"))
        }
    }

    @Test("are refused by name when root has the environment of another user")
    func state() throws {
        try require(.root)
        let base = try temporaryDirectory(containing: Self.tree)
        let home = PurgeHome(home: base.appending("home"))
        try tool("chown", "-R", "1234", home.home)
        let words = ["run", ".", "--free", "1B", "--min-age", "0", "--all-owners", "--partial"]
        for hasState in [false, true] {
            if hasState {
                try tool("mkdir", "-p", home(".local/state/resval/purge"))
                try tool("chown", "-R", "1234", home.home)
            }
            let result = try home.run(arguments: words)
            #expect(result.exitCode != 0, "\(result)")
            #expect(result.errorText.contains("belongs to another user"))
            #expect(result.errorText.contains("sudo without -E"))
            #expect(home(".cache/app/file").exists)
            #expect(!home(".local/state/resval/purge/journal").exists)
        }
    }
}
