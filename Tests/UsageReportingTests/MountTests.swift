import BackupPlanning
import EffectiveValues
import SystemPackage
import TestSupport
import Testing
import UsageReporting

@Suite("Mounts below what is measured")
struct MountTests {
    private let tree = Tree {
        Directory("outside") { File("large", content(8 << 20)) }
        Directory("root") {
            Directory("a") { File("file", content(100_000)) }
            Directory("m"); Directory("n")
            File("point")
        }
    }

    /// Calls `body` with the directory `root` of a filesystem of its own, and with what binds a
    /// directory or a file to another until the end.
    private func withRoot(
        _ body: (FilePath, _ bind: (String, String) throws -> Void) throws -> Void
    ) throws {
        try require(.root, .tool("mount"))
        try withFilesystem(.ext4) { filesystem in
            let top = filesystem.root
            try tree.create(in: top)
            var mounted: [FilePath] = []
            defer { for path in mounted.reversed() { _ = try? tool("umount", "-l", path) } }
            try body(top.appending("root")) { source, target in
                try tool("mount", "--bind", top.appending(source), top.appending(target))
                mounted.append(top.appending(target))
            }
        }
    }

    @Test("what is bound from outside is counted, and is not freed with the directory above")
    func boundFromOutside() throws {
        try withRoot { root, bind in
            try bind("outside", "root/m")
            let report = try measure(root)
            #expect(report.total.allocated == (try diskUsage(root)))
            #expect(report.total.apparent == (8 << 20) + 100_000)
            #expect(report.total.freed < 200_000)
            let mount = try #require(report.directory(at: root.appending("m")))
            #expect(mount.allocated > 8 << 20)
            try bind("outside", "root/n")
            let twice = try measure(root)
            #expect(twice.total.apparent == report.total.apparent)
            #expect(twice.total.freed < 200_000)
            // Both paths are below this root.
            let all = try measure(root.removingLastComponent())
            #expect(all.total.apparent == (8 << 20) + 100_000)
            #expect(all.total.freed == all.total.allocated)
        }
    }

    @Test("what is bound from inside counts once", arguments: ["root/a", "root", ""])
    func boundFromInside(source: String) throws {
        try withRoot { root, bind in
            let before = try measure(root)
            try bind(source, "root/m")
            let report = try measure(root)
            #expect(report.total.apparent == before.total.apparent)
            #expect(report.total.fileCount == before.total.fileCount)
            #expect(report.total.freed == report.total.allocated)
        }
    }

    @Test("a file that is bound over another counts once, and is not freed from outside")
    func boundFile() throws {
        try withRoot { root, bind in
            let before = try measure(root)
            try bind("root/a/file", "root/point")
            try #expect(measure(root).total.apparent == before.total.apparent)
            try bind("outside/large", "root/point")
            let report = try measure(root)
            #expect(report.total.apparent == before.total.apparent + (8 << 20))
            #expect(report.total.freed < 200_000)
        }
    }

    @Test("an overlay of directories that are measured, too, counts once")
    func overlay() throws {
        try withRoot { root, _ in
            try tool("mkdir", root.appending("upper"), root.appending("work"))
            let before = try measure(root)
            let merged = root.appending("m")
            let options = "lowerdir=\(root)/a,upperdir=\(root)/upper,workdir=\(root)/work"
            try tool("mount", "-t", "overlay", "-o", options, "overlay", merged)
            defer { _ = try? tool("umount", "-l", merged) }
            try #expect(measure(root).total.apparent == before.total.apparent)
            let alone = try measure(merged)
            #expect(alone.total.apparent == 100_000)
            // What only the overlay shows counts there, and stays when that is deleted.
            let partly = root.appending("n")
            let lower = "lowerdir=\(root.removingLastComponent())/outside"
            try tool("mount", "-t", "overlay", "-o", "\(lower):\(root)/a", "overlay", partly)
            defer { _ = try? tool("umount", "-l", partly) }
            let partial = try measure(root)
            #expect(partial.total.apparent == (8 << 20) + 200_000)
            #expect(partial.total.freed < 300_000)
        }
    }

    @Test(
        "an overlay counts where it is unless all its directories are known to be elsewhere",
        arguments: [
            ("lowerdir=/etc:/usr", true), ("lowerdir=/usr,upperdir=/etc,workdir=/bin", true),
            ("lowerdir=/etc:/nowhere", false), ("lowerdir=etc:/usr", false), ("ro", false),
        ])
    func layers(options: String, isRepeated: Bool) {
        let table = MountTable(
            mountinfo: Array(
                "1 0 0:1 / / rw - ext4 d rw\n2 1 0:2 / /m rw - overlay o \(options)".utf8))
        let repeated = RepeatedMounts(table, below: ["/"]).repeatedPaths
        #expect(repeated == (isRepeated ? ["/m"] : []))
    }

    @Test("the content of a filesystem that covers a bound directory is not taken for it")
    func covered() throws {
        try withRoot { root, bind in
            try bind("root/a", "root/m")
            try tool("mount", "-t", "tmpfs", "tmpfs", root.appending("a"))
            defer { _ = try? tool("umount", "-l", root.appending("a")) }
            try #expect(measure(root).total.apparent == 100_000)
        }
    }
}
