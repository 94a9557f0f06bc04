import ResourceValues
import SystemPackage
import TestSupport
import Testing
import UsageReporting

@Suite("Extents that files share", .cleansUp)
struct CloneTests {
    private static let cloning: [FilesystemKind] = [.xfs, .btrfs]

    /// Runs a script in a directory, with everything on disk afterwards.
    private func run(_ script: String, in root: FilePath) throws {
        try tool("sh", "-ec", "cd \"$1\"; \(script); sync -f .", "sh", root)
    }

    /// The bytes in use, for data alone where the filesystem tells.
    private func used(_ filesystem: MountedFilesystem) throws -> Int64 {
        if filesystem.kind == .btrfs {
            let lines = try tool("btrfs", "filesystem", "df", "--raw", filesystem.root)
                .split(separator: "\n").filter { $0.hasPrefix("Data") }
            return try #require(Int64(lines.first?.split(separator: "=").last ?? ""))
        }
        let text = try tool("df", "-B1", "--output=used", filesystem.root)
        return try #require(Int64(text.split { " \n".contains($0) }.last ?? ""))
    }

    @Test("a file, five clones and one half rewritten take what df says", arguments: cloning)
    func clones(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind, size: 1 << 30)
        let root = filesystem.root
        try run("mkdir a b; touch a/file b/1 b/2 b/3 b/4 b/5", in: root)
        let before = (try used(filesystem), try exact(root).total.allocated)
        try run(
            """
            head -c 209715200 /dev/urandom > a/file; sync -f .
            for n in 1 2 3 4 5; do cp --reflink=always a/file b/$n; done
            dd if=/dev/urandom of=b/3 bs=1M count=100 conv=notrunc status=none
            """, in: root)
        let report = try exact(root)
        let (grown, counted) = (try used(filesystem) - before.0, report.total.allocated - before.1)
        #expect(abs(grown - counted) <= 4096, "\(grown) \(counted)")
        #expect(counted >= 300 << 20)
        #expect(report.cloneSize == 1_258_291_200)
        #expect(!report.countsClonesInFull)
        // The clones of one directory belong to it as far as the other does not share them.
        let b = try #require(report.directory(at: root.appending("b")))
        #expect(b.allocated >= 100 << 20 && b.allocated < 101 << 20)
        let top = try #require(report.roots.first)
        #expect(top.sharedBelow == 200 << 20)
        #expect(top.freed == top.allocated)
        #expect(report.freedIsAtMost)
        try #expect(!measure(root).freedIsAtMost)
        // Deleting the clones alone frees what was rewritten.
        let clones = try exact(root.appending("b"))
        #expect(clones.total.allocated >= 300 << 20)
        let full = try measure(root)
        #expect(full.countsClonesInFull)
        #expect(full.cloneSize == nil)
        #expect(full.total.allocated >= 1200 << 20)
    }

    @Test("what is shared with something that was not met is not freed", arguments: cloning)
    func sharedOutside(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind)
        let root = filesystem.root
        try run(
            """
            mkdir a b; head -c 8388608 /dev/urandom > a/file; sync -f .
            cp --reflink=always a/file b/file
            """, in: root)
        let a = try exact(root.appending("a")).total
        #expect(a.freed < 1 << 20)
        #expect(a.allocated >= 8 << 20)
        let both = try exact(root).total
        #expect(both.freed == both.allocated)
    }

    @Test("a clone with two names is counted once", arguments: cloning)
    func linkedClones(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind)
        let root = filesystem.root
        try run(
            """
            mkdir a b c; head -c 8388608 /dev/urandom > a/file; sync -f .
            cp --reflink=always a/file b/file; ln b/file c/file
            """, in: root)
        let total = try exact(root).total
        #expect(total.allocated >= 8 << 20 && total.allocated < 9 << 20)
        #expect(total.fileCount == 2)
        let order = try exact(root.appending("c"), root.appending("b"), root.appending("a"))
        #expect(order.total.allocated < 9 << 20)
        #expect(order.total.sharedBelow == 8 << 20)
    }

    @Test("where files cannot be cloned, none is asked, and nothing is said")
    func otherFilesystems() throws {
        let filesystem = try filesystem(.ext4)
        try run("head -c 8388608 /dev/urandom > file; chmod 0 file", in: filesystem.root)
        let plain = try measure(filesystem.root)
        #expect(!plain.countsClonesInFull)
        let exactly = try exact(filesystem.root)
        #expect(exactly.total.allocated == plain.total.allocated)
        #expect(exactly.cloneSize == 0)
    }

    private func exact(_ roots: FilePath...) throws -> UsageReport {
        try measure(roots) { $0.countsSharedExtentsOnce = true }
    }
}
