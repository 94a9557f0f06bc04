import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A home and its caches in subvolumes of one btrfs", .cleansUp)
struct SubvolumeTests {
    private static let content = String(repeating: "x", count: 4 << 20)

    /// Makes a home on btrfs.
    private func subvolumes() throws -> PurgeHome {
        try require(.tool("btrfs"))
        let home = PurgeHome(home: try filesystem(.btrfs).root.appending("home"))
        for path in [home.home, home(".cache"), home("other")] {
            try tool("btrfs", "subvolume", "create", path)
        }
        try Tree {
            File("app/file", Self.content)
            Directory("app/unit") { File("file", Self.content) }
        }.create(in: home(".cache"))
        // Another tick of the filesystem's clock.
        try tool("sleep", "0.05")
        try Tree {
            Directory("Documents") { File("novel", Self.content).purgeable() }
            File("marked", Self.content).purgeable()
        }.create(in: home.home)
        try Tree { File("marked", Self.content).purgeable() }.create(in: home("other"))
        // Documents are no twin of what has the same number in another subvolume.
        let numbers = try ["Documents", ".cache/app"].map {
            try home($0).status().identity.inode
        }
        #expect(numbers[0] == numbers[1])
        return home
    }

    @Test(
        "are searched together, with ROOT and without, and other subvolumes and volumes are named")
    func plan() throws {
        let home = try subvolumes()
        let words = ["--free", "1G", "--min-age", "0", "--kept"]
        let without = try home.run(arguments: ["plan"] + words)
        let units = ["file", "unit/"].map { "  \(home(".cache/app"))/\($0)\n" }
        for unit in units { #expect(without.text.contains(unit), "\(without)") }
        #expect(without.text.contains("kept  /tmp: another filesystem begins there\n"))
        let all = try home.run(arguments: ["plan", "."] + words)
        for unit in units + ["  \(home("marked"))\n"] {
            #expect(all.text.contains(unit), "\(all)")
        }
        #expect(all.text.contains("kept  \(home("other")): another filesystem begins"))
        #expect(all.text.contains("kept  \(home("Documents")): it is or contains a protected"))
        let named = try home.run(arguments: ["plan", ".", "other"] + words)
        #expect(named.text.contains("  \(home("other/marked"))\n"), "\(named)")
        let status = try home.run("status", "--json", "--min-age", "0")
        let homes = status.text.split(separator: "\n").filter { $0.contains("/home") }
        #expect(homes.count == 1, "\(status)")
    }

    @Test("are purged by a plan file, each in its place")
    func run() throws {
        let home = try subvolumes()
        _ = try home.run("plan", ".", "--free", "1G", "--min-age", "0", "--output", "plan.json")
        let result = try home.run("run", "plan.json", "--min-age", "0", "--partial")
        #expect(result.text.contains("deleted 3 paths, "), "\(result)")
        #expect(home("Documents/novel").exists)
        #expect(home("other/marked").exists)
        #expect(!home(".cache/app/unit").exists)
    }

    @Test("are purged by a watch of the home")
    func watch() throws {
        let home = try subvolumes()
        try Tree { File(".config/resval/purge.toml", configurationOfShortage) }
            .create(in: home.home)
        // Less than half of so small a volume is available.
        let result = try home.run("watch", "--once")
        #expect(result.errorText.contains("deleted 2 paths, "), "\(result)")
        #expect(!home(".cache/app/unit").exists)
        #expect(home("marked").exists)
    }

    @Test("keep a unit that contains a subvolume in which a location begins")
    func nested() throws {
        let home = try subvolumes()
        try Tree { Directory("project") { File("file", Self.content) } }.create(in: home.home)
        try tool("btrfs", "subvolume", "create", home("project/cache"))
        try Tree { File("file", Self.content) }.create(in: home("project/cache"))
        try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "true", home("project"))
        let plan = try home.run(
            "plan", "project", "--free", "1G", "--min-age", "0", "--kept", "--cache",
            "project/cache")
        #expect(!plan.text.contains("  \(home("project"))/\n"), "\(plan)")
    }
}
