import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Copying, moving and replacing with marks", .cleansUp)
struct CopyingTests {
    @Test(
        "a copied tree has the same content, marks, modes, links and holes, and shares blocks",
        arguments: [FilesystemKind.ext4, .xfs, .btrfs, .tmpfs, .overlayfs])
    func copiesTree(_ kind: FilesystemKind) throws {
        let root = try filesystem(kind) {
            Directory("d") {
                for name in HostileNames.all { File(name, "content").excluded() }
                Directory("sub") {
                    File("read-only", "x").purgeable().permissions(0o400)
                }.excluded().permissions(0o550)
                SymbolicLink("link", to: "nowhere")
                SparseFile("sparse", hole: 4 << 20, data: "end")
                File("large", Array(repeating: 3, count: 1 << 20))
            }.purgeable()
        }.root
        try manager.copyItem(atPath: "\(root)/d", toPath: "\(root)/copy")
        try tool("diff", "-r", "--no-dereference", root.appending("d"), root.appending("copy"))
        let listing = try dump(root.appending("d"))
        #expect(listing.contains("isPurgeable"))
        try #expect(dump(root.appending("copy")) == listing)
        let sparse = try root.appending("copy/sparse").status()
        #expect(sparse.size == 4 << 20 + 3 || sparse.size > 4 << 20)
        #expect(sparse.allocatedSize < 1 << 20)
        if kind == .btrfs || kind == .xfs {
            try #expect(tool("filefrag", "-v", root.appending("copy/large")).contains("shared"))
        }
    }

    @Test("a copy never replaces what is there, and nothing is left of one that fails")
    func neverReplaces() throws {
        let root = try temporaryDirectory {
            File("f", "1")
            File("g", "2")
            Directory("d") {
                File("a"); Fifo("pipe")
            }
        }
        expectError(.fileWriteFileExists) {
            try manager.copyItem(atPath: "\(root)/f", toPath: "\(root)/g")
        }
        expectError(.featureUnsupported) {
            try manager.copyItem(atPath: "\(root)/d", toPath: "\(root)/e")
        }
        #expect(
            cocoaCode {
                try manager.copyItem(atPath: "\(root)/none", toPath: "\(root)/e")
            } != nil)
        #expect(
            cocoaCode {
                try manager.copyItem(atPath: "\(root)/d", toPath: "\(root)/d/inside")
            } != nil)
        try #expect(contentsOfFile(root.appending("g")) == Array("2".utf8))
        try #expect(entryCount(root) == 3)
        try #expect(entryCount(root.appending("d")) == 2)
    }

    @Test("a tree of 5000 levels is copied with the modes of its directories, and removed")
    func deeperThanDescriptors() throws {
        let root = try temporaryDirectory {
            NestedDirectories("d", depth: 5000) { File("f").excluded() }.permissions(0o750)
        }
        try root.appending("d").copyItem(to: root.appending("copy"))
        func below(_ name: FilePath.Component, _ depth: Int) -> FilePath {
            root.appending([name] + Array(repeating: "d", count: depth - 1))
        }
        try #expect(below("copy", 5000).appending("f").value(for: .isExcludedFromBackup) == true)
        let (copied, status) = try (below("copy", 1900).status(), below("d", 1900).status())
        #expect(copied.permissions == status.permissions)
        #expect(copied.contentModificationTime == status.contentModificationTime)
        try removeTree("copy", in: OpenDirectory(at: root))
        try #expect(entryCount(root) == 1)
    }

    @Test("a replaced item has the new content, and the old marks and mode")
    func replaces() throws {
        let root = try temporaryDirectory {
            File("old", "old").excluded().permissions(0o600)
            File("new", "new").attribute("user.own", "1")
        }
        let old = root.appending("old")
        let result = try manager.replaceItemAt(
            old.url, withItemAt: root.appending("new").url, backupItemName: "backup",
            options: .withoutDeletingBackupItem)
        #expect(result == old.url)
        try #expect(contentsOfFile(old) == Array("new".utf8))
        try #expect(old.value(for: .isExcludedFromBackup) == true)
        try #expect(old.extendedAttribute(named: "user.own") == Array("1".utf8))
        try #expect(old.status().permissions == 0o600)
        try #expect(contentsOfFile(root.appending("backup")) == Array("old".utf8))
        try #expect(entryCount(root) == 2)
    }

    @Test(
        "the name for a backup is one name, or nothing happens",
        arguments: ["", ".", "..", "/", "a/b", "a/", "../up", "/tmp", "a\0b"])
    func backupName(name: String) throws {
        let root = try temporaryDirectory {
            Directory("d") {
                File("old", "old"); File("new", "new")
            }
        }
        let (old, new) = (root.appending("d/old"), root.appending("d/new"))
        for options in [FileManager.ItemReplacementOptions.withoutDeletingBackupItem, []] {
            let code = cocoaCode {
                _ = try manager.replaceItemAt(
                    old.url, withItemAt: new.url, backupItemName: name, options: options)
            }
            #expect(code == .fileWriteInvalidFileName)
        }
        try #expect(contentsOfFile(old) == Array("old".utf8))
        try #expect(contentsOfFile(new) == Array("new".utf8))
        try #expect(entryCount(root) == 1 && entryCount(root.appending("d")) == 2)
    }

    @Test("a replaced directory goes with all that was in it")
    func replacesDirectory() throws {
        let root = try temporaryDirectory {
            Directory("old") { Directory("a") { File("b") } }.purgeable()
            Directory("new") { File("c") }
        }
        let old = root.appending("old")
        _ = try manager.replaceItemAt(old.url, withItemAt: root.appending("new").url)
        try #expect(old.value(for: .isPurgeable) == true)
        try #expect(entryCount(old) == 1)
        try #expect(entryCount(root) == 1)
    }

    @Test("what cannot be replaced stays, and so does what should have replaced it")
    func mountedOver() throws {
        try require(.root)
        let root = try temporaryDirectory {
            Directory("old")
            Directory("new") { File("c") }.purgeable()
        }
        let (old, new) = (root.appending("old"), root.appending("new"))
        try tool("mount", "-t", "tmpfs", "tmpfs", old)
        defer { _ = try? tool("umount", old) }
        #expect(throws: CocoaError.self) {
            try manager.replaceItemAt(old.url, withItemAt: new.url)
        }
        try #expect(entryCount(new) == 1)
        try #expect(new.value(for: .isPurgeable) == true)
        try #expect(entryCount(root) == 2)
    }
}

/// Modes, sizes, times and attributes of a whole tree, as text.
private func dump(_ directory: FilePath) throws -> String {
    let script = """
        cd "$1" && find . ! -type l -printf '%p %m %s %T@\\n' | sort &&
        getfattr -R -P -d -m user . | sort
        """
    return try tool("sh", "-c", script, "sh", directory)
}
