import BackupPlanning
import ResourceValues
import SystemPackage
import TestSupport
import Testing
import UsageReporting

@Suite("Sums of directories", .cleansUp)
struct SumTests {
    private static let linked = Tree {
        File("a/single", content(10_000))
        File("a/first", content(50_000))
        Directory("a/deep") { HardLink("second", to: "a/first") }
        HardLink("b/third", to: "a/first")
        File("b/local", content(30_000))
        HardLink("b/local too", to: "b/local")
        SparseFile("b/sparse", hole: 1 << 20, data: "end")
        SymbolicLink("b/link", to: "sparse")
        Fifo("b/fifo")
        Directory("c") {
            File("outside", content(70_000))
            for name in HostileNames.all { Directory(name) { File(name, content(5_000)) } }
        }
        HardLink("elsewhere", to: "c/outside")
    }

    @Test("everything on disk is what du counts, across roots and with hard links")
    func diskUsageEquality() throws {
        let root = try temporaryDirectory(containing: Self.linked)
        let (a, b, c) = (root.appending("a"), root.appending("b"), root.appending("c"))
        try #expect(measure(root).total.allocated == diskUsage(root))
        try #expect(measure(a, b).total.allocated == diskUsage(a, b))
        try #expect(measure(b, a, c).total.allocated == diskUsage(b, a, c))
        try #expect(measure(a).total.allocated == diskUsage(a))
        let file = root.appending("elsewhere")
        try #expect(measure(file, c).total.allocated == diskUsage(file, c))
    }

    @Test("apparent sizes are those of regular files, each once")
    func apparentSizes() throws {
        let root = try temporaryDirectory(containing: Self.linked)
        let report = try measure(root)
        let files = 10_000 + 50_000 + 30_000 + (1 << 20) + 3 + 70_000
        #expect(report.total.apparent == Int64(files + HostileNames.all.count * 5_000))
        #expect(report.total.fileCount == Int64(5 + HostileNames.all.count))
    }

    @Test("roots inside others, given twice or through links count once, wherever they stand")
    func overlappingRoots() throws {
        let root = try temporaryDirectory(containing: Self.linked)
        try Tree { SymbolicLink("again", to: root) }.create(in: root)
        let (a, deep) = (root.appending("a"), root.appending("a/deep"))
        let expected = try measure(root).total.allocated
        for roots in [[a, root, deep], [root, a], [root.appending("again"), root, root]] {
            let report = try measure(roots)
            #expect(report.total.allocated == expected)
            #expect(report.roots.map(\.path) == [root])
        }
    }

    @Test("what has names in several directories belongs to the one that contains them all")
    func sharedBelow() throws {
        let root = try temporaryDirectory(containing: Self.linked)
        let report = try measure(root)
        let top = try #require(report.roots.first)
        let file = try root.appending("a/first").fileStatus().allocatedSize
        let outside = try root.appending("c/outside").fileStatus().allocatedSize
        #expect(top.sharedBelow == file + outside)
        for directory in top.children { #expect(directory.sharedBelow == 0) }
        let own = try root.fileStatus().allocatedSize
        let below = top.children.reduce(0) { $0 + $1.allocated }
        #expect(top.allocated == below + top.sharedBelow + own)
        // With one root less, the directory that contains the rest has it.
        let a = try #require(measure(root.appending("a")).roots.first)
        #expect(a.sharedBelow == file)
    }

    @Test("what has a name outside is not freed")
    func freed() throws {
        let root = try temporaryDirectory(containing: Self.linked)
        let file = try root.appending("a/first").fileStatus().allocatedSize
        let outside = try root.appending("c/outside").fileStatus().allocatedSize
        let whole = try measure(root)
        #expect(whole.total.freed == whole.total.allocated)
        let a = try measure(root.appending("a")).total
        #expect(a.freed == a.allocated - file)
        let c = try #require(whole.directory(at: root.appending("c")))
        // All names were met, one of them outside of this directory, which it is not part of.
        #expect(c.freed == c.allocated)
        let alone = try measure(root.appending("c")).total
        #expect(alone.freed == alone.allocated - outside)
        let both = try measure(root.appending("a"), root.appending("b")).total
        #expect(both.freed == both.allocated)
    }

    @Test("5,000 levels and 20,000 directories in one are measured")
    func extremes() throws {
        let root = try temporaryDirectory {
            NestedDirectories("level", depth: 5000) { File("bottom", content(4_096)) }
            Directory("wide") {}
        }
        let wide = root.appending("wide")
        try tool("sh", "-c", "cd \"$1\" && seq 20000 | xargs mkdir", "sh", wide)
        let report = try measure(root)
        try #expect(report.total.allocated == diskUsage(root))
        #expect(report.directoryCount == 25_002)
        let levels = report.roots.flatMap(\.children).first { $0.name == Array("level".utf8) }
        var deepest = try #require(levels)
        while let next = deepest.children.first { deepest = next }
        #expect(deepest.depth == 5000)
        #expect(deepest.apparent == 4096)
        #expect(deepest.path.bytes.count == root.bytes.count + 5000 * 6)
    }

    @Test("a missing root is a problem, and the others are measured")
    func missingRoot() throws {
        let root = try temporaryDirectory { Directory("a") }
        let report = try measure(root.appending("missing"), root.appending("a"))
        #expect(report.problems.map(\.code) == [.noSuchFile])
        #expect(report.roots.map(\.path) == [root.appending("a")])
    }

    @Test("a walk that is stopped reports what it met, and says so")
    func stopped() throws {
        let root = try temporaryDirectory {
            for name in ["a", "b", "c"] as [FileName] { Directory(name) }
        }
        let report = try measure(root) { $0.planner.shouldStop = { true } }
        #expect(report.isPartial)
        #expect(report.total.allocated == 0)
        try #expect(!measure(root).isPartial)
    }

    @Test("a filesystem mounted inside counts, unless the walk stays on one filesystem")
    func mounts() throws {
        try require(.root)
        let inner = try filesystem(.tmpfs)
        let outer = inner.root.removingLastComponent()
        try Tree { File("in memory", content(100_000)) }.create(in: inner.root)
        let whole = try measure(outer)
        try #expect(whole.total.allocated == diskUsage(outer))
        let part = try measure(outer) { $0.staysOnFilesystem = true }
        try #expect(part.total.allocated == diskUsage(outer, options: ["-x"]))
        #expect(whole.total.apparent == part.total.apparent + 100_000)
    }
}
