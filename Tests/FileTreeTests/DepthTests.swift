import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("Deep trees", .cleansUp)
struct DepthTests {
    @Test("are walked beyond PATH_MAX, with true paths")
    func paths() throws {
        let root = try temporaryDirectory {
            NestedDirectories("ten-bytes-", depth: 500) { File("deepest") }
        }
        let expected = try listing(of: root)
        #expect(expected.count == 502)
        for tool in WalkTool.allWays {
            let visits = try tool.walk(root)
            #expect(visits.paths == expected, "\(tool.testDescription)")
            #expect(visits.failures.isEmpty, "\(tool.testDescription)")
        }
    }

    @Test("of one branch are walked")
    func chain() throws {
        let filesystem = try filesystem(.tmpfs) {
            NestedDirectories("ten-bytes-", depth: 3000) { File("deepest") }
        }
        for tool in WalkTool.allWays {
            try expect(tool, filesystem.root, entries: 3002, deepest: 3001)
        }
    }

    // One branch at the top, so that no sibling keeps the root's turn open. Whether the deeper
    // directory comes before its siblings depends on the names and on the filesystem.
    @Test(
        "with siblings are walked with 64 descriptors, every sibling read",
        arguments: ["m", "a0", "z0"] as [FileName])
    func siblings(deeper: FileName) throws {
        let root = try temporaryDirectory { Directory("only") }
        try makeChain(in: root.appending("only"), depth: 150, deeper, siblings: ["a", "n", "z"])
        let expected = try listing(of: root)
        #expect(expected.count == 2 + 150 * 7)
        for var tool in WalkTool.allWays {
            tool.descriptorLimit = 64
            let visits = try tool.walk(root)
            #expect(visits.paths == expected, "\(tool.testDescription)")
            #expect(visits.failures.isEmpty, "\(tool.testDescription)")
        }
    }

    @Test("of 20,000 levels with siblings need neither stack nor descriptors")
    func veryDeep() throws {
        let filesystem = try filesystem(.tmpfs, options: ["nr_inodes=100k"])
        try makeChain(in: filesystem.root, depth: 20_000, "d", siblings: ["s"])
        for var tool in WalkTool.allWays {
            tool.descriptorLimit = 64
            try expect(tool, filesystem.root, entries: 1 + 20_000 * 3, deepest: 20_001)
        }
    }

    private func expect(
        _ tool: WalkTool, _ root: FilePath, entries: Int, deepest: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let summary = try tool.summary(root)
        let comment: Comment = "\(tool.testDescription): \(summary.lines)"
        try #expect(summary.number("entries") == entries, comment, sourceLocation: sourceLocation)
        try #expect(summary.number("deepest") == deepest, comment, sourceLocation: sourceLocation)
        try #expect(summary.number("errors") == 0, comment, sourceLocation: sourceLocation)
        summary.expectNothingLeftBehind(sourceLocation: sourceLocation)
    }
}

/// Makes directories inside each other; beside each there are siblings that hold one file each.
func makeChain(
    in root: FilePath, depth: Int, _ deeper: FileName, siblings: [FileName]
) throws {
    var directory = open(root.string, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    for _ in 0..<depth {
        for sibling in siblings {
            let name = String(decoding: sibling.bytes, as: UTF8.self)
            try make(mkdirat(directory, name, 0o755))
            try make(mknodat(directory, name + "/f", S_IFREG | 0o644, 0))
        }
        let name = String(decoding: deeper.bytes, as: UTF8.self)
        try make(mkdirat(directory, name, 0o755))
        let next = openat(directory, name, O_RDONLY | O_DIRECTORY)
        close(directory)
        directory = next
    }
}

private func make(_ result: CInt) throws {
    guard result == 0 else { throw Errno(rawValue: errno) }
}
