import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval find on a whole btrfs subvolume")
struct SubvolumeFindTests {
    @Test("a search of the tree prints what a walk prints")
    func sameAsWalk() throws {
        try withFilesystem(.btrfs, options: ["strictatime"]) { filesystem in
            try Tree {
                File("excluded").excluded()
                File("all").excluded().purgeable().protection(.complete)
                File("included").excluded(false)
                File("broken").attribute(StoredKey.isPurgeable.attribute, "perhaps")
                File("similar")
                    .attribute(ExtendedAttributeName("user.resval.isExcludedFromBackups"), "true")
                File("shorter").attribute(ExtendedAttributeName("user.resval"), "true")
                // btrfs stores attributes whose names have the same CRC-32C in one item.
                File("collision")
                    .attribute(ExtendedAttributeName("user.collision.abXAtOr"), "first").excluded()
                SymbolicLink("link", to: "excluded")
                for name in HostileNames.all { Directory(name) { File(name).excluded() } }
                Directory("directory") {
                    HardLink("second", to: "excluded")
                    HardLink("third", to: "excluded")
                    Directory("empty").purgeable()
                }.excluded()
                NestedDirectories("level", depth: 600) { File("deep").excluded() }
            }.create(in: filesystem.root)
            try expectSearch(of: filesystem.root)
            try filesystem.root.setValue(true, for: .isExcludedFromBackup)
            try expectSearch(of: filesystem.root)
            try filesystem.remount(["ro"])
            try expectSearch(of: filesystem.root)
        }
    }

    @Test("what was changed a moment ago is found as it is now")
    func changes() throws {
        try withFilesystem(.btrfs, options: ["strictatime"]) { filesystem in
            try Tree {
                Directory("from") { File("file") }
                Directory("to")
                File("unmarked").excluded()
                File("removed").excluded()
                Directory("gone") { File("file").excluded() }
            }.create(in: filesystem.root)
            func path(_ name: String) -> FilePath { filesystem.root.appending(name) }
            try path("from/file").setValue(true, for: .isExcludedFromBackup)
            try #expect(expectSearch(of: filesystem.root).count == 4)
            try tool("mv", path("from/file"), path("to/moved"))
            try tool("mv", path("to"), path("renamed"))
            try #expect(path("unmarked").removeValue(for: .isExcludedFromBackup))
            let open = try openFile(path("removed"), flags: .readOnly)
            defer { closeIgnoringErrors(open) }
            try tool("rm", "-r", path("removed"), path("gone"))
            try #expect(
                expectSearch(of: filesystem.root) == [path("renamed/moved").bytes])
            try Tree { File("removed").excluded() }.create(in: filesystem.root)
            try #expect(
                expectSearch(of: filesystem.root)
                    == [path("removed").bytes, path("renamed/moved").bytes])
        }
    }

    @Test("a file that is made while the tree is searched is found")
    func additions() throws {
        try withFilesystem(.btrfs) { filesystem in
            try Tree { for n in 0..<100 { File(FileName(Array("\(n)".utf8))).excluded() } }
                .create(in: filesystem.root)
            let root = try OpenDirectory(at: filesystem.root, flags: .readOnly)
            let isMade = Monitor(false)
            let tree = filesystem.root
            let (inodes, _) = try SubvolumeTree(of: root.descriptor)
                .inodes(withAttribute: "user.resval.", threads: 2) { _ in
                    isMade.withLock { isMade in
                        if !isMade { try? Tree { File("new").excluded() }.create(in: tree) }
                        isMade = true
                    }
                    return false
                }
            #expect(inodes.count == 101)
            try #expect(inodes.last == tree.appending("new").status().identity.inode)
        }
    }

    @Test("no more threads search the tree than are wanted")
    func threads() throws {
        try withFilesystem(.btrfs) { filesystem in
            try Tree { for n in 0..<100 { File(FileName(Array("\(n)".utf8))).excluded() } }
                .create(in: filesystem.root)
            let root = try OpenDirectory(at: filesystem.root, flags: .readOnly)
            let calling = pthread_self()
            let others = Monitor<Set<pthread_t>>([])
            let (inodes, _) = try SubvolumeTree(of: root.descriptor)
                .inodes(withAttribute: "user.resval.", threads: 1) { _ in
                    let thread = pthread_self()
                    // A thread that has ended leaves its identifier to the next.
                    if thread != calling {
                        usleep(100_000)
                        others.withLock { _ = $0.insert(thread) }
                    }
                    return false
                }
            #expect(inodes.count == 100)
            #expect(others.withLock { $0.count } == 1)
        }
    }

    @Test("a walk finds what the tree of the subvolume does not tell")
    func walk() throws {
        try withFilesystem(.btrfs, options: ["strictatime"]) { filesystem in
            let root = filesystem.root
            try Tree {
                File("file").excluded()
                Directory("directory") { File("file").excluded() }
            }.create(in: root)
            try expectSearch(of: root)
            try expectWalk(of: root.appending("directory"))
            try expectWalk(of: root, "--larger-than", "0")

            let mount = root.appending("directory")
            try tool("mount", "-t", "tmpfs", "tmpfs", mount)
            try Tree { File("other").excluded() }.create(in: mount)
            let found = try expectWalk(of: root)
            try tool("umount", mount)
            #expect(found == [mount.appending("other").bytes, root.appending("file").bytes])

            let subvolume = root.appending("subvolume")
            try tool("btrfs", "subvolume", "create", subvolume)
            try Tree { File("inner").excluded() }.create(in: subvolume)
            try #expect(expectWalk(of: root).count == 3)
            try expectSearch(of: subvolume)
            try tool("btrfs", "subvolume", "delete", subvolume)
            try expectSearch(of: root)

            // More names than one item takes.
            let name = String(repeating: "n", count: 200)
            try Tree {
                Directory("links") {
                    for number in 0..<200 {
                        HardLink(FileName(Array("\(name)\(number)".utf8)), to: "file")
                    }
                }
            }.create(in: root)
            try #expect(expectWalk(of: root).count == 202)
            try tool("rm", "-r", root.appending("links"))
            try expectSearch(of: root)

            try Tree {
                NestedDirectories(HostileNames.longest, depth: 20) { File("far").excluded() }
            }.create(in: root)
            try #expect(expectWalk(of: root).count == 3)
        }
    }

    /// Expects that the tree is searched and that the results, for several options, are those of a
    /// walk.
    ///
    /// - Returns: the excluded items.
    @discardableResult
    private func expectSearch(
        of root: FilePath, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [[UInt8]] {
        let filters = ["--json", "--malformed", "--purgeable", "--protection=complete"]
        for options in [[]] + filters.map({ [$0] }) {
            let (searched, walked, isWalk) = try find(options, root)
            #expect(searched == walked, sourceLocation: sourceLocation)
            #expect(!isWalk, sourceLocation: sourceLocation)
        }
        return try find(["--excluded"], root).searched.records
    }

    /// Expects that the tree is walked, whatever the capabilities.
    ///
    /// - Returns: the excluded items.
    @discardableResult
    private func expectWalk(
        of root: FilePath, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [[UInt8]] {
        let (result, walked, isWalk) = try find(["--excluded"] + options, root)
        #expect(result == walked, sourceLocation: sourceLocation)
        #expect(isWalk, sourceLocation: sourceLocation)
        return result.records
    }

    /// Runs `find` with all capabilities, and without the one that searching a tree needs.
    ///
    /// - Returns: both results, and whether the first run read the root directory.
    private func find(
        _ options: [String], _ root: FilePath
    ) throws -> (searched: CommandResult, walked: CommandResult, isWalk: Bool) {
        let form = options == ["--json"] ? [] : ["-0"]
        let words: [any CommandArgument] = ["find", "--sort"] + form + options + [root]
        let before = try root.status()
        let searched = try Command(.built("resval"), arguments: words).run()
        let isWalk = try root.status().contentAccessTime != before.contentAccessTime
        let setpriv = try #require(FilePath.tool("setpriv"))
        let walked = try Command(
            setpriv, arguments: ["--bounding-set=-sys_admin", FilePath.built("resval")] + words
        ).run()
        return (searched, walked, isWalk)
    }
}
