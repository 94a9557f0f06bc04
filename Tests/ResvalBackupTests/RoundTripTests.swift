import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("What a snapshot brings back", .cleansUp)
struct RoundTripTests {
    private static let moment = FileTime(seconds: 1_234_567_890, nanoseconds: 123_456_789)

    private static let tree = Tree {
        File("plain", "text").permissions(0o640).modified(moment)
        File("read-only", "text").permissions(0o444).attribute("user.note", "kept")
        File("program", "text").permissions(0o755)
        File("empty")
        HardLink("second name", to: "plain")
        SymbolicLink("link", to: "plain")
        SymbolicLink("dangling", to: "nowhere\n")
        SymbolicLink("not UTF-8", to: FilePath(bytes: [0x61, 0xFF]))
        Fifo("fifo").permissions(0o600)
        File("marked false", "text").excluded(false)
        File("malformed", "text").attribute("user.resval.isExcludedFromBackup", "yes")
        File("binary attribute").attribute("user.binary", [0, 0xFF, 0x0A])
        File("empty attribute").attribute("user.empty", "")
        File("excluded", "text").excluded()
        Directory("sticky") { File("inside", "text").purgeable() }.permissions(0o1777)
        Directory("read-only directory") { File("inside", "text") }
            .permissions(0o555).attribute("user.note", "kept").modified(moment)
        Directory("excluded directory") {
            File("inside", "text")
            Directory("deeper") { File("inside", "text") }
        }.excluded().permissions(0o750).attribute("user.note", "kept").modified(moment)
    }

    @Test("content, links, times, permissions and attributes; an excluded directory stays, empty")
    func everything() throws {
        let backup = try backup(of: Self.tree)
        try backup.create(says: "malformed: warning: ")
        try backup.restore()
        var expected = try TreeListing(of: backup.source)
        expected.remove { path in
            path == Array("/excluded".utf8)
                || path.starts(with: "/excluded directory/".utf8)
        }
        let restored = try TreeListing(of: backup.restored(backup.source))
        #expect(restored.differences(from: expected) == [])
        #expect(!restored.text(at: Array("/excluded directory".utf8)).isEmpty)
    }

    @Test("holes come back, in writable files and in read-only ones")
    func sparseFiles() throws {
        let backup = try backup(user: 54321) {
            SparseFile("hole", hole: 8 << 20, data: "behind").modified(Self.moment)
            SparseFile("only a hole", hole: 5_000_001)
            SparseFile("read-only", hole: 1 << 20, data: "behind").permissions(0o444)
                .owned(by: 54321)
            SparseFile("set-ID", hole: 1 << 20, data: "behind").permissions(0o4755)
                .owned(by: 54321)
            File("zeros", [UInt8](repeating: 0, count: 100_000))
            File("full", [UInt8](repeating: 1, count: 100_000))
        }
        try backup.create()
        try backup.restore()
        let place = backup.restored(backup.source)
        let ownerless = try TreeListing(of: backup.source).items.mapValues {
            $0.replacing(" 0 ", with: " 54321 ")
        }
        #expect(try TreeListing(of: place).items == ownerless)
        for name in ["hole", "only a hole", "read-only", "set-ID"] as [FileName] {
            let before = try backup.source.appending(name).status().allocatedSize
            let after = try place.appending(name).status().allocatedSize
            #expect(after <= before, "\(name)")
        }
        #expect(try place.appending("full").status().allocatedSize >= 100_000)
    }
}

@Suite("Extended attributes in a restore", .cleansUp)
struct RestoreAttributesTests {
    private static let tree = Tree {
        File("one", "text").purgeable()
        File("two", "text").attribute("user.note", "text").attribute("user.other", "text")
        File("none", "text")
        Directory("directory") { File("inside", "text") }.protection(.none)
    }

    @Test("a filesystem without attributes is named")
    func noAttributes() throws {
        try require(.root, .tool("mount"))
        let backup = try backup(of: Self.tree)
        try backup.create()
        try tool("mkdir", backup.target)
        try tool("mount", "-t", "ramfs", "ramfs", backup.target)
        defer { _ = try? tool("umount", backup.target) }
        let result = try backup.restore(to: backup.target.appending("new"), exits: 3)
        #expect(result.errorText.split(separator: "\n").count == 1, "\(result)")
        #expect(result.errorText.contains("stores no extended attributes"), "\(result)")
    }

    @Test("items whose attributes restic cannot set are named")
    func lostByRestic() throws {
        try require(.root, .tool("strace"), .tool("setfacl"), .tool("setcap"))
        let backup = try backup(of: Self.tree)
        let script =
            "cd \"$1\"; setfacl -m u:54321:r one; setcap cap_net_raw+ep directory/inside"
        try shell(script, backup.source)
        try backup.create()
        try backup.restore(
            by: "strace -f -qq -o /dev/null -e trace=lsetxattr -e inject=lsetxattr:error=EIO"
        ).expect(exits: 3, says: "/one: was not restored: ")
    }

    @Test("an ordinary user's restore brings the attributes of read-only items")
    func readOnly() throws {
        let backup = try backup(user: 54321) {
            Directory("above") {
                for number in 0..<3 {
                    Directory("directory\(number)") {
                        File("file", "text").permissions(0o444).purgeable()
                            .attribute("user.binary", [0, 0xFF]).owned(by: 54321)
                        File(HostileNames.notUTF8, "text").permissions(0o400).purgeable()
                            .owned(by: 54321)
                        // The names of two differ, although Swift's strings are equal.
                        File("empty", "text").permissions(0o400).attribute("user.empty", "")
                            .attribute("user.\u{E9}", "one").attribute("user.e\u{301}", "two")
                            .attribute("user.\u{301}", "three").owned(by: 54321)
                    }.permissions(0o555).attribute("user.note", "text").owned(by: 54321)
                }
            }.permissions(0o555).excluded(false).owned(by: 54321)
        }
        let above = backup("above")
        for source in [above, above.appending("directory0")] {
            try backup.runSuccessfully("create", source)
            let target = backup.base.appending(FileName(source.lastComponent?.bytes ?? []))
            try backup.restore(to: target)
            let restored = target.pushing(FilePath(root: nil, source.components))
            let before = try TreeListing(of: source)
            try #expect(TreeListing(of: restored).differences(from: before) == [])
            let parent = target.pushing(FilePath(root: nil, above.components))
            #expect(try parent.value(for: .isExcludedFromBackup) == false)
        }
    }

    @Test("attributes too large for the target's filesystem are named with their item")
    func tooLarge() throws {
        try require(.root)
        let large = try filesystem(.xfs)
        let small = try filesystem(.ext4)
        let backup = try backup {}
        let source = large.root.appending("source")
        try Tree {
            File("source/small").attribute("user.note", "text")
            File("source/large").attribute("user.note", content(20000))
        }.create(in: large.root)
        try backup.runSuccessfully("create", source)
        let result = try backup.restore(
            to: small.root.appending("target"), exits: 3,
            says: "\(source)/large: was not restored")
        #expect(!result.errorText.contains("/small"), "\(result)")
    }

    @Test("that times are kept to the second is told once; one that cannot be kept, with its item")
    func coarserTimes() throws {
        try require(.root)
        let volume = try filesystem(.ext4SmallInodes)
        let backup = try backup(of: Self.tree)
        try backup.create()
        try tool("touch", "-d", "2040-02-03", backup("two"))
        try backup.create()
        for snapshot in try backup.originals() {
            let result = try backup.run(
                "restore", "--snapshot", snapshot, "--target",
                volume.root.appending("target"), "--overwrite")
            let isFirst = try snapshot == backup.originals().first
            #expect(result.exitCode == (isFirst ? 0 : 3), "\(result)")
            #expect(
                result.errorText.split(separator: "\n").map { $0.contains("/two: was ") }
                    == (isFirst ? [false] : [false, true]), "\(result)")
            #expect(
                result.errorText.contains("keeps times less exactly: to the second"),
                "\(result)")
        }
    }

    @Test("a file with an attribute whose name is not UTF-8 is named when it is backed up")
    func foreignNames() throws {
        try require(.tool("setfattr"))
        let backup = try backup(of: Self.tree)
        let script = #"setfattr -n "$(printf 'user.\377')" -v text "$1""#
        try shell(script, backup("one"))
        try backup.create(
            exits: 3,
            says:
                "\(backup.source)/one: is in the snapshot without some of its attributes: one has"
        )
    }
}
