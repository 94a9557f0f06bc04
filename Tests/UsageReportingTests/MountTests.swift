import BackupPlanning
import EffectiveValues
import SystemPackage
import TestSupport
import Testing
import UsageReporting

@Suite("Mounts below what is measured", .cleansUp)
struct MountTests {
    private let tree = Tree {
        Directory("outside") { File("large", content(8 << 20)) }
        Directory("root") {
            Directory("a") { File("file", content(100_000)) }
            Directory("m"); Directory("n")
            File("point")
        }
    }

    /// Makes the directory `root` of a filesystem of its own, and what binds a directory or a file to
    /// another until the end.
    private func rootWithBinds() throws -> (
        root: FilePath, bind: (String, String) throws -> Void
    ) {
        try require(.root, .tool("mount"))
        let top = try filesystem(.ext4) { tree }.root
        func bind(_ source: String, to target: String) throws {
            let target = top.appending(target)
            try tool("mount", "--bind", top.appending(source), target)
            try afterwards { _ = try? tool("umount", "-l", target) }
        }
        return (top.appending("root"), bind)
    }

    @Test("what is bound from outside is counted, and is not freed with the directory above")
    func boundFromOutside() throws {
        let (root, bind) = try rootWithBinds()
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

    @Test("what is bound from inside counts once", arguments: ["root/a", "root", ""])
    func boundFromInside(source: String) throws {
        let (root, bind) = try rootWithBinds()
        let before = try measure(root)
        try bind(source, "root/m")
        let report = try measure(root)
        #expect(report.total.apparent == before.total.apparent)
        #expect(report.total.fileCount == before.total.fileCount)
        #expect(report.total.freed == report.total.allocated)
    }

    @Test("a file that is bound over another counts once, and is not freed from outside")
    func boundFile() throws {
        let (root, bind) = try rootWithBinds()
        let before = try measure(root)
        try bind("root/a/file", "root/point")
        try #expect(measure(root).total.apparent == before.total.apparent)
        try bind("outside/large", "root/point")
        let report = try measure(root)
        #expect(report.total.apparent == before.total.apparent + (8 << 20))
        #expect(report.total.freed < 200_000)
    }

    @Test("an overlay of directories that are measured, too, counts once")
    func overlay() throws {
        let (root, _) = try rootWithBinds()
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
        let (root, bind) = try rootWithBinds()
        try bind("root/a", "root/m")
        try tool("mount", "-t", "tmpfs", "tmpfs", root.appending("a"))
        defer { _ = try? tool("umount", "-l", root.appending("a")) }
        try #expect(measure(root).total.apparent == 100_000)
    }
}
