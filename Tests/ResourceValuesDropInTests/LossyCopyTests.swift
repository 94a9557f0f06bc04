import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Copying and moving to where something cannot be stored, or is inherited", .cleansUp)
struct LossyCopyTests {
    @Test(
        "a copy drops attributes of other programs that cannot be stored; a move is refused",
        arguments: FilesystemWithoutAttributes.allCases)
    func dropsForeignAttributes(_ filesystem: FilesystemWithoutAttributes) throws {
        let tree = Tree {
            File("download", "x").attribute("user.xdg.origin.url", "https://example.org")
            Directory("d") {
                File("a", "y").attribute("user.comment", "z")
            }.attribute("user.comment", "z")
        }
        let target = try filesystem.mounted()
        let root = try temporaryDirectory(containing: tree)
        try copyFoundationItem("\(root)/download", to: "\(target)/foundation")
        for name in ["download", "d"] {
            try manager.copyItem(atPath: "\(root)/\(name)", toPath: "\(target)/\(name)")
        }
        for name in ["foundation", "download"] {
            try #expect(contentsOfFile(target.appending(name)) == Array("x".utf8))
        }
        try #expect(contentsOfFile(target.appending("d/a")) == Array("y".utf8))
        try Tree { File("old", "old") }.create(in: target)
        for (name, lost) in [("download", "user.xdg.origin.url"), ("d", "user.comment")] {
            let item = root.appending(name)
            try expectAdviceToCopy(lost) {
                try manager.moveItem(atPath: "\(item)", toPath: "\(target)/moved")
            }
            try expectAdviceToCopy(lost) {
                _ = try manager.replaceItemAt(target.appending("old").url, withItemAt: item.url)
            }
        }
        try #expect(contentsOfFile(target.appending("old")) == Array("old".utf8))
        try #expect(entryCount(target) == 4)
        try #expect(contentsOfFile(root.appending("download")) == Array("x".utf8))
        try #expect(
            root.appending("d/a").extendedAttribute(named: "user.comment")
                == Array("z".utf8))
        try #expect(entryCount(root) == 2)
    }

    @Test("a copy drops an attribute of another program that has no space; a move does not")
    func attributeSpace() throws {
        let large = String(repeating: "z", count: 30_000)
        let root = try filesystem(.xfs) {
            File("f", "x").excluded().attribute("user.comment", large)
            File("marked", "y").attribute("user.duplicati.exclude", large)
        }.root
        let target = try filesystem(.ext4).root
        let copy = target.appending("f")
        try manager.copyItem(atPath: "\(root)/f", toPath: "\(copy)")
        try #expect(contentsOfFile(copy) == Array("x".utf8))
        try #expect(copy.value(for: .isExcludedFromBackup) == true)
        try #expect(copy.extendedAttribute(named: "user.comment") == nil)
        try expectAdviceToCopy("user.comment") {
            try manager.moveItem(atPath: "\(root)/f", toPath: "\(target)/moved")
        }
        for isMoving in [false, true] {
            let (item, copy) = ("\(root)/marked", "\(target)/marked")
            let error = try #require(throws: CocoaError.self) {
                if isMoving {
                    try manager.moveItem(atPath: item, toPath: copy)
                } else {
                    try manager.copyItem(atPath: item, toPath: copy)
                }
            }
            #expect(error.code == .fileWriteOutOfSpace)
            #expect(reason(error).contains("user.duplicati.exclude"))
        }
        try #expect(entryCount(target) == 1)
        try #expect(entryCount(root) == 2)
        try #expect(
            root.appending("f").extendedAttribute(named: "user.comment")
                == Array(large.utf8))
    }

    @Test(
        "marks that cannot be stored are an error that names them, and nothing is copied or moved",
        arguments: FilesystemWithoutAttributes.allCases)
    func namesLostMarks(_ filesystem: FilesystemWithoutAttributes) throws {
        let tree = Tree {
            File("f", "x").excluded().purgeable().attribute("user.comment", "z")
            Directory("d") { File("a", "y").purgeable() }
            File("placeholder", "").attribute(
                "user.resval.evicted.0123456789abcdef.0123456789abcdef.0.644.5-0", "1")
            for (number, name) in foreignMarks.enumerated() {
                File("foreign\(number)", "w")
                    .attribute(ExtendedAttributeName(name), "1").attribute("user.comment", "z")
            }
        }
        let target = try filesystem.mounted()
        let root = try temporaryDirectory(containing: tree)
        func lost(_ name: String, _ body: () throws -> Void) throws -> String {
            let error = try #require(throws: CocoaError.self) { try body() }
            #expect(error.code == .featureUnsupported)
            return reason(error)
        }
        let marks = ["user.resval.isExcludedFromBackup", "user.resval.isPurgeable"]
        let foreign = foreignMarks.enumerated().map { ("foreign\($0)", [$1]) }
        let own = [("f", marks), ("d", [marks[1]]), ("placeholder", ["user.resval.evicted."])]
        for (name, names) in own + foreign {
            let (source, copy) = ("\(root)/\(name)", "\(target)/\(name)")
            let copying = try lost(name) {
                try manager.copyItem(atPath: source, toPath: copy)
            }
            let moving = try lost(name) {
                try manager.moveItem(atPath: source, toPath: copy)
            }
            for mark in names {
                #expect(copying.contains(mark), "\(copying)")
                #expect(moving.contains(mark), "\(moving)")
            }
            // A copy would drop it; a move would lose it as well.
            #expect(!copying.contains("user.comment"))
            let hasComment = !["d", "placeholder"].contains(name)
            #expect(moving.contains("user.comment") == hasComment)
        }
        try #expect(entryCount(target) == 0)
        try #expect(entryCount(root) == 3 + foreignMarks.count)
    }

    @Test("a move keeps the class that an item has; only a copy takes that of its new directory")
    func classOfMovedItems() throws {
        let root = try temporaryDirectory {
            Directory("vault").protection(.complete)
            File("plain", "1")
            File("other", "2").protection(.completeUnlessOpen)
        }
        let vault = root.appending("vault")
        for name in ["plain", "other"] {
            try manager.copyItem(atPath: "\(root)/\(name)", toPath: "\(vault)/copy-\(name)")
            try manager.moveItem(atPath: "\(root)/\(name)", toPath: "\(vault)/\(name)")
        }
        func stored(_ name: String) throws -> FileProtection? {
            try vault.appending(name).fileProtection
        }
        try #expect(stored("plain") == nil)
        try #expect(stored("copy-plain") == .complete)
        try #expect(stored("other") == .completeUnlessOpen)
        try #expect(stored("copy-other") == .completeUnlessOpen)
        let filesystem = try filesystem(.ext4) { File("plain", "3").excluded() }
        try manager.moveItem(atPath: "\(filesystem.root)/plain", toPath: "\(vault)/across")
        try #expect(stored("across") == .complete)
        try #expect(vault.appending("across").value(for: .isExcludedFromBackup) == true)
        try #expect(entryCount(filesystem.root) == 0)
        // What MovingCodeFromIOS says of streams and handles.
        let stream = try #require(OutputStream(toFileAtPath: "\(vault)/stream", append: false))
        stream.open()
        stream.close()
        try #expect(stored("stream") == nil)
        #expect(manager.createFile(atPath: "\(vault)/handle", contents: nil))
        let handle = try FileHandle(forWritingTo: vault.appending("handle").url)
        try handle.write(contentsOf: Data("4".utf8))
        try handle.close()
        try #expect(stored("handle") == .complete)
    }
}

/// The attributes of other programs that backups honor, as the documentation lists them.
private let foreignMarks = [
    "user.xdg.robots.backup", "user.duplicati.exclude", "user.duplicacy_exclude",
    "user.com.apple.metadata:com_apple_backup_excludeItem",
    "user.DosStream.com.apple.metadata:com_apple_backup_excludeItem:$DATA",
]

private func reason(_ error: CocoaError) -> String {
    error.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? ""
}

/// Expects an error that names an attribute and says to copy instead.
private func expectAdviceToCopy(
    _ attribute: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) throws {
    let error = try #require(
        throws: CocoaError.self, sourceLocation: sourceLocation, performing: body)
    #expect(reason(error).contains(attribute), "\(error)", sourceLocation: sourceLocation)
    let advice = error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String ?? ""
    #expect(advice.contains("copy the item instead"), "\(error)", sourceLocation: sourceLocation)
}

/// Filesystems that do not store user attributes: one in memory, and one through FUSE, as a FAT volume
/// is on machines whose kernel does not know it.
enum FilesystemWithoutAttributes: CaseIterable, Sendable {
    case ramfs
    case fuse

    /// Mounts an empty one, and returns its directory.
    func mounted() throws -> FilePath {
        try require(.root)
        if self == .fuse { try require(.tool("bindfs")) }
        let root = try temporaryDirectory {
            Directory("behind")
            Directory("mount")
        }
        let mount = root.appending("mount")
        switch self {
        case .ramfs: try tool("mount", "-t", "ramfs", "ramfs", mount)
        case .fuse: try tool("bindfs", "--xattr-none", root.appending("behind"), mount)
        }
        try afterwards { _ = try? tool("umount", mount) }
        return mount
    }
}
