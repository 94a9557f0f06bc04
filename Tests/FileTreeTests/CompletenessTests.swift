import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A walk visits every entry once", .cleansUp)
struct CompletenessTests {
    @Test("of random trees", arguments: [1, 2, 3] as [UInt64])
    func randomTree(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let items = randomItems(&numbers, depth: 4)
        let root = try temporaryDirectory { for item in items { item } }
        let expected = try listing(of: root)
        #expect(expected.count > 50)
        for tool in WalkTool.allWays {
            let visits = try tool.walk(root)
            #expect(visits.paths == expected, "\(tool.testDescription)")
            #expect(visits.failures.isEmpty, "\(tool.testDescription)")
        }
    }

    @Test("with hostile names, of files and of directories")
    func hostileNames() throws {
        let root = try temporaryDirectory {
            for name in HostileNames.all {
                Directory(name) { for inner in HostileNames.all { File(inner) } }
            }
        }
        let expected = try listing(of: root)
        #expect(expected.count == 1 + 21 + 21 * 21)
        for tool in WalkTool.allWays {
            let visits = try tool.walk(root)
            #expect(visits.paths == expected, "\(tool.testDescription)")
            #expect(visits.failures.isEmpty, "\(tool.testDescription)")
        }
    }

    @Test("of every kind, and follows no symbolic link", arguments: WalkTool.allWays)
    func kinds(tool: WalkTool) throws {
        let base = try temporaryDirectory {
            Directory("outside") { File("secret") }
            SymbolicLink("root/link", to: "../outside")
            SymbolicLink("root/loop", to: ".")
            SymbolicLink("root/dangling", to: "nowhere")
            Fifo("root/fifo")
            Socket("root/socket")
            File("root/file")
            Directory("root/empty")
        }
        let visits = try tool.walk(base.appending("root"))
        try #expect(visits.paths == listing(of: base.appending("root")))
        #expect(visits.paths.count == 8)
        #expect(visits.failures.isEmpty)
    }

    @Test("of one directory with 200,000 entries")
    func wideDirectory() throws {
        let filesystem = try filesystem(.tmpfs, options: ["nr_inodes=300k"])
        try makeFiles(200_000, in: filesystem.root)
        let expected = try listing(of: filesystem.root)
        #expect(expected.count == 200_001)
        for threadCount in [1, 8] {
            let visits = try WalkTool(threadCount: threadCount).walk(filesystem.root)
            #expect(visits.paths == expected, "\(threadCount) threads")
        }
    }

    @Test("of 20,000 directories side by side, with 64 descriptors")
    func manyDirectories() throws {
        let filesystem = try filesystem(.tmpfs, options: ["nr_inodes=100k"]) {
            for number in 0..<20_000 { Directory("\(number)") { File("f") } }
        }
        let expected = try listing(of: filesystem.root)
        for threadCount in [1, 8] {
            let tool = WalkTool(threadCount: threadCount, descriptorLimit: 64)
            let visits = try tool.walk(filesystem.root)
            #expect(visits.paths == expected, "\(threadCount) threads")
            #expect(visits.failures.isEmpty)
        }
    }

    @Test("where directories do not tell kinds", arguments: WalkTool.allWays)
    func unknownKinds(tool: WalkTool) throws {
        let root = try filesystem(.ext4, features: ["-O", "^filetype"]) {
            Directory("a") { Directory("b") { File("f") } }
            SymbolicLink("link", to: "a")
        }.root
        let visits = try tool.walk(root)
        try #expect(visits.paths == listing(of: root))
        #expect(visits.paths.contains(root.pushing("a/b/f").bytes))
        #expect(visits.failures.isEmpty)
    }
}

/// Makes empty files named by number.
func makeFiles(_ count: Int, in directory: FilePath) throws {
    let opened = open(directory.string, O_RDONLY | O_DIRECTORY)
    defer { close(opened) }
    for number in 0..<count where mknodat(opened, "\(number)", S_IFREG | 0o644, 0) != 0 {
        throw Errno(rawValue: errno)
    }
}

/// Items for a random tree: up to eight in each directory.
private func randomItems(_ numbers: inout SeededNumbers, depth: Int) -> [any TreeItem] {
    (0..<Int.random(in: 3...8, using: &numbers)).map { index -> any TreeItem in
        let name = "\(index)" as FileName
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0...3 where depth > 0:
            let items = randomItems(&numbers, depth: depth - 1)
            return Directory(name) { for item in items { item } }
        case 4: return SymbolicLink(name, to: "..")
        default: return File(name)
        }
    }
}
