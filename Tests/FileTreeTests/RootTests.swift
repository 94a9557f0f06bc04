import FileTree
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Roots", .cleansUp)
struct RootTests {
    private static let tree = Tree {
        Directory("d") { File("f") }
        File("file")
        SymbolicLink("link", to: "d")
        SymbolicLink("dangling", to: "nowhere")
    }

    @Test("may be files, and links that are followed or not", arguments: WalkTool.allWays)
    func links(tool: WalkTool) throws {
        let base = try temporaryDirectory(containing: Self.tree)
        var tool = tool
        tool.workingDirectory = base
        try expect(tool.walk("file"), ["file"])
        try expect(tool.walk("link"), ["link", "link/f"])
        try expect(tool.walk("dangling"), [], ["noSuchFile dangling"])
        tool.options = ["--no-follow"]
        try expect(tool.walk("link"), ["link"])
        try expect(tool.walk("dangling"), ["dangling"])
        try expect(tool.walk("d"), ["d", "d/f"])
    }

    @Test("are printed as given, a slash at the end dropped", arguments: WalkTool.allWays)
    func spelling(tool: WalkTool) throws {
        let base = try temporaryDirectory(containing: Self.tree)
        var tool = tool
        tool.workingDirectory = base.appending("d")
        try expect(tool.walk("."), [".", "./f"])
        try expect(tool.walk("../d/"), ["../d", "../d/f"])
        try expect(tool.walk("../link/"), ["../link", "../link/f"])
    }

    @Test(
        "are walked as often as they are given, missing ones reported", arguments: WalkTool.allWays)
    func several(tool: WalkTool) throws {
        let base = try temporaryDirectory(containing: Self.tree)
        var tool = tool
        tool.workingDirectory = base
        try expect(
            tool.walk("d", "missing", "file/x", "d", ""), ["d", "d", "d/f", "d/f"],
            ["noSuchFile ", "noSuchFile missing", "notADirectory file/x"])
    }

    @Test("may lie beyond PATH_MAX", arguments: WalkTool.allWays)
    func long(tool: WalkTool) throws {
        let name: FileName = "a name of 20 bytes.."
        let base = try temporaryDirectory { NestedDirectories(name, depth: 500) { File("f") } }
        let root = base.appending(name, times: 500)
        let visits = try tool.walk(root)
        #expect(visits.paths == [root.bytes, root.appending("f").bytes])
        #expect(visits.failures.isEmpty)
    }

    @Test("may be many more than there are descriptors", arguments: WalkTool.allWays)
    func many(tool: WalkTool) throws {
        let base = try temporaryDirectory(containing: Self.tree)
        var tool = tool
        tool.descriptorLimit = 64
        tool.workingDirectory = base
        tool.options = ["--summary"] + Array(repeating: "d", count: 500)
        let summary = try tool.summary("d")
        try #expect(summary.number("entries") == 1002)
        try #expect(summary.number("errors") == 0)
        summary.expectNothingLeftBehind()
    }

    private func expect(
        _ visits: Visits, _ paths: [String], _ failures: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            visits.paths.map { String(decoding: $0, as: UTF8.self) } == paths,
            sourceLocation: sourceLocation)
        #expect(visits.failures == failures, sourceLocation: sourceLocation)
    }
}
