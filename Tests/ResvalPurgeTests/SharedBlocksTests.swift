import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge of directories whose files share blocks with each other", .cleansUp)
struct SharedBlocksTests {
    private static let tree = Tree {
        Directory("home/.cache/app/first")
        Directory("home/.cache/app/second")
        Directory("home/.cache/app/young") { File("file", block) }
    }

    @Test("stops at the first that frees nothing, since a snapshot has its blocks, too")
    func inVain() throws {
        try require(.root, .tool("btrfs"), .filesystem(.btrfs))
        let root = try filesystem(.btrfs).root
        try tool("btrfs", "subvolume", "create", root.appending("home"))
        let home = PurgeHome(home: root.appending("home"))
        for number in 0..<4 {
            let unit = home(".cache/app/\(number)")
            try tool("mkdir", "-p", unit)
            try tool("dd", "if=/dev/urandom", "of=\(unit)/file", "bs=1M", "count=4", "status=none")
            try tool("cp", "--reflink=always", unit.appending("file"), unit.appending("clone"))
        }
        try tool("sync", "-f", home.home)
        try tool("btrfs", "subvolume", "snapshot", home.home, root.appending("snapshot"))
        let run = try home.run(
            "run", ".", "--free", "8M", "--min-age", "0", "--partial", "--json")
        #expect(run.text.contains(#""removedUnits":1,"#), "\(run)")
        #expect(run.text.contains(#""isReached":false"#), "\(run)")
        #expect(run.exitCode == 1, "\(run)")
    }

    @Test(
        "deletes them after all else, one at a time, until enough was freed as measured",
        arguments: [FilesystemKind.btrfs, .xfs])
    func measured(_ kind: FilesystemKind) throws {
        let home = PurgeHome(home: try filesystem(kind) { Self.tree }.root.appending("home"))
        for name in ["first", "second"] {
            let unit = home(".cache/app/\(name)")
            try tool(
                "dd", "if=/dev/urandom", "of=\(unit)/file", "bs=1M", "count=8", "status=none")
            try tool(
                "cp", "--reflink=always", unit.appending("file"), unit.appending("clone"))
        }
        try tool("touch", home(".cache/app/young/file"))
        try tool("sync", "-f", home.home)
        let options: [any CommandArgument] = [".", "--free", "4M", "--min-age", "0"]
        let plan = try home.run(arguments: ["plan"] + options)
        #expect(plan.exitCode == 1)
        #expect(plan.errorText.contains(" of 4.0 MiB can be freed for certain, "), "\(plan)")
        let units = plan.text.split(separator: "\n").filter { $0.hasSuffix("/") }
        #expect(units.count == 3 && units.first?.hasSuffix("/young/") == true, "\(plan)")
        let run = try home.run(arguments: ["run"] + options + ["--partial"])
        #expect(run.exitCode == 0 && run.text.contains("deleted 2 paths, "), "\(run)")
        #expect(!home(".cache/app/young").exists)
        let left = ["first", "second"].filter { home(".cache/app/\($0)").exists }
        #expect(left.count == 1, "\(run)")
    }
}
