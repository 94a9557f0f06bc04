import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Copying and moving to where something cannot be stored, or is inherited")
struct LossyCopyTests {
    @Test(
        "attributes of other programs are dropped where they cannot be stored, as by Foundation",
        arguments: FilesystemWithoutAttributes.allCases)
    func dropsForeignAttributes(_ filesystem: FilesystemWithoutAttributes) throws {
        let tree = Tree {
            File("download", "x").attribute("user.xdg.origin.url", "https://example.org")
            Directory("d") {
                File("a", "y").attribute("user.comment", "z")
            }.attribute("user.comment", "z")
        }
        try filesystem.mounted { target in
            try withTemporaryDirectory(containing: tree) { root in
                try copyFoundationItem("\(root)/download", to: "\(target)/foundation")
                for name in ["download", "d"] {
                    try FileManager.default.copyItem(
                        atPath: "\(root)/\(name)", toPath: "\(target)/\(name)")
                }
                try FileManager.default.moveItem(
                    atPath: "\(root)/download", toPath: "\(target)/moved")
                for name in ["foundation", "download", "moved"] {
                    try #expect(contentsOfFile(target.appending(name)) == Array("x".utf8))
                }
                try #expect(contentsOfFile(target.appending("d/a")) == Array("y".utf8))
                try #expect(entryCount(root) == 1)
            }
        }
    }

    @Test(
        "marks that cannot be stored are an error that names them, and nothing is copied or moved",
        arguments: FilesystemWithoutAttributes.allCases)
    func namesLostMarks(_ filesystem: FilesystemWithoutAttributes) throws {
        let tree = Tree {
            File("f", "x").excluded().purgeable().attribute("user.comment", "z")
            Directory("d") { File("a", "y").purgeable() }
            File("placeholder", "").attribute(
                "user.resval.evicted.0123456789abcdef.0123456789abcdef.0", "1")
        }
        try filesystem.mounted { target in
            try withTemporaryDirectory(containing: tree) { root in
                func lost(_ name: String, _ body: () throws -> Void) throws -> String {
                    let error = try #require(throws: CocoaError.self) { try body() }
                    #expect(error.code == .featureUnsupported)
                    return error.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? ""
                }
                let marks = ["user.resval.isExcludedFromBackup", "user.resval.isPurgeable"]
                for (name, names) in [
                    ("f", marks), ("d", [marks[1]]), ("placeholder", ["user.resval.evicted."]),
                ] {
                    let (source, copy) = ("\(root)/\(name)", "\(target)/\(name)")
                    for reason in [
                        try lost(name) {
                            try FileManager.default.copyItem(atPath: source, toPath: copy)
                        },
                        try lost(name) {
                            try FileManager.default.moveItem(atPath: source, toPath: copy)
                        },
                    ] {
                        for mark in names { #expect(reason.contains(mark), "\(reason)") }
                        #expect(!reason.contains("user.comment"))
                    }
                }
                try #expect(entryCount(target) == 0)
                try #expect(entryCount(root) == 3)
            }
        }
    }

    @Test("a move keeps the class that an item has; only a copy takes that of its new directory")
    func classOfMovedItems() throws {
        let tree = Tree {
            Directory("vault")
            File("plain", "1")
            File("other", "2")
        }
        try withTemporaryDirectory(containing: tree) { root in
            let vault = root.appending("vault")
            try vault.setValue(.complete, for: .fileProtection)
            try root.appending("other").setValue(.completeUnlessOpen, for: .fileProtection)
            for name in ["plain", "other"] {
                try FileManager.default.copyItem(
                    atPath: "\(root)/\(name)", toPath: "\(vault)/copy-\(name)")
                try FileManager.default.moveItem(
                    atPath: "\(root)/\(name)", toPath: "\(vault)/\(name)")
            }
            func stored(_ name: String) throws -> FileProtection? {
                try vault.appending(name).value(for: .fileProtection)
            }
            try #expect(stored("plain") == nil)
            try #expect(stored("copy-plain") == .complete)
            try #expect(stored("other") == .completeUnlessOpen)
            try #expect(stored("copy-other") == .completeUnlessOpen)
            try withFilesystem(.ext4) { filesystem in
                let file = filesystem.root.appending("plain")
                try Tree { File("plain", "3") }.create(in: filesystem.root)
                try FileManager.default.moveItem(atPath: "\(file)", toPath: "\(vault)/across")
                try #expect(stored("across") == .complete)
            }
            // What MovingCodeFromIOS says of streams and handles.
            let stream = try #require(OutputStream(toFileAtPath: "\(vault)/stream", append: false))
            stream.open()
            stream.close()
            try #expect(stored("stream") == nil)
            #expect(FileManager.default.createFile(atPath: "\(vault)/handle", contents: nil))
            let handle = try FileHandle(forWritingTo: vault.appending("handle").url)
            try handle.write(contentsOf: Data("4".utf8))
            try handle.close()
            try #expect(stored("handle") == .complete)
        }
    }
}

/// Filesystems that do not store user attributes: one in memory, and one through FUSE, as a FAT volume
/// is on machines whose kernel does not know it.
enum FilesystemWithoutAttributes: CaseIterable, Sendable {
    case ramfs
    case fuse

    /// Calls `body` with the directory of a mounted, empty filesystem.
    func mounted(_ body: (FilePath) throws -> Void) throws {
        try require(.root)
        if self == .fuse { try require(.tool("bindfs")) }
        let layout = Tree {
            Directory("behind")
            Directory("mount")
        }
        try withTemporaryDirectory(containing: layout) { root in
            let mount = root.appending("mount")
            switch self {
            case .ramfs: try tool("mount", "-t", "ramfs", "ramfs", mount)
            case .fuse: try tool("bindfs", "--xattr-none", root.appending("behind"), mount)
            }
            defer { _ = try? tool("umount", mount) }
            try body(mount)
        }
    }
}
