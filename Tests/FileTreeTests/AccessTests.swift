import FileTree
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Where a walk may not go", .cleansUp)
struct AccessTests {
    @Test(
        "closed directories are reported once each, the rest is walked", arguments: WalkTool.allWays
    )
    func closedDirectories(tool: WalkTool) throws {
        try require(.root)
        let tree = Tree {
            Directory("a") { File("hidden") }.permissions(0o700)
            Directory("b") { Directory("c") { File("hidden") }.permissions(0o711) }
            File("f")
        }
        try walkAsOrdinaryUser(tool, tree) { visits in
            #expect(visits.paths == ["", "/a", "/b", "/b/c", "/f"])
            #expect(visits.failures == ["permissionDenied /a", "permissionDenied /b/c"])
        }
    }

    @Test("entries of a directory that may only be listed are visited", arguments: WalkTool.allWays)
    func listableDirectory(tool: WalkTool) throws {
        try require(.root)
        let tree = Tree {
            Directory("a") {
                Directory("d"); File("f")
            }.permissions(0o744)
        }
        try walkAsOrdinaryUser(tool, tree) { visits in
            #expect(visits.paths == ["", "/a", "/a/d", "/a/f"])
            #expect(visits.failures == ["permissionDenied /a/d"])
        }
    }

    @Test("an encrypted directory without its key is reported, and no name in it is met")
    func lockedDirectory() throws {
        let (root, vault, turn) = try encryptedDirectory()
        try Tree {
            Directory("directory") { File("file") }
            SymbolicLink("link", to: "nowhere")
        }.create(in: vault)
        try turn("lock")
        for start in [root, vault] {
            let recorder = Recorder()
            try recorder.scan(TreeScanner(), start)
            let record = recorder.record
            #expect(record.failures.map(\.code) == [.locked])
            #expect(record.failures.map(\.path) == [vault])
            let paths = record.entries.map { FilePath(bytes: $0.path) }
            #expect(paths.filter { $0.starts(with: vault) } == [vault], "\(paths)")
        }
        #expect(throws: Errno.noKey) {
            try OpenDirectory(at: vault, flags: .readOnly).names()
        }
    }

    @Test("other filesystems are visited but not walked, if told so", arguments: WalkTool.allWays)
    func otherFilesystem(tool: WalkTool) throws {
        try require(.root)
        let base = try temporaryDirectory {
            Directory("root/mount")
            File("root/d/f")
        }
        let root = base.appending("root")
        let mount = root.appending("mount")
        try TestSupport.tool("mount", "-t", "tmpfs", "tmpfs", mount)
        defer { _ = try? TestSupport.tool("umount", mount) }
        try Tree { File("inner") }.create(in: mount)
        try #expect(tool.walk(root).paths == listing(of: root))
        var tool = tool
        tool.options = ["--one-filesystem"]
        try #expect(tool.walk(root).paths == listing(of: root, "-xdev"))
        try #expect(tool.walk(root).paths.contains(mount.bytes))
        // A root on another filesystem is walked.
        try #expect(tool.walk(mount).paths == listing(of: mount))
    }

    /// Paths and failures are told from the tree's root.
    private func walkAsOrdinaryUser(
        _ tool: WalkTool, _ tree: Tree,
        _ body: ((paths: [String], failures: [String])) throws -> Void
    ) throws {
        let base = try temporaryDirectory(isShared: true) {
            Directory("programs"); Directory("root")
        }
        let (programs, root) = (base.appending("programs"), base.appending("root"))
        // Where the checkout lies another user need not be able to go.
        try TestSupport.tool(
            "cp", FilePath.built("test-tool"), FilePath.built("without-calls"), programs)
        try tree.create(in: root)
        var tool = tool
        tool.programs = programs
        tool.user = 54321
        let visits = try tool.walk(root)
        let paths = visits.paths.map {
            String(decoding: $0.dropFirst(root.length), as: UTF8.self)
        }
        try body((paths, visits.failures.map { $0.replacing(root.string, with: "") }))
    }
}
