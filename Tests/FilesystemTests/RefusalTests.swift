import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Files that take no mark", .cleansUp)
struct RefusalTests {
    @Test("a read-only mount is readOnlyFilesystem", arguments: FilesystemKind.allCases)
    func readOnlyMount(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) {
            File("f"); File("g").purgeable()
        }
        try filesystem.remount(["ro"])
        try expectNothingStored(.readOnlyFilesystem, on: filesystem.root.appending("f"))
        let marked = filesystem.root.appending("g")
        #expect(code { try marked.removeValue(for: .isPurgeable) } == .readOnlyFilesystem)
        try #expect(marked.value(for: .isPurgeable) == true)
    }

    @Test(
        "special files and links are unsupportedFileKind",
        arguments: [FilesystemKind.ext4, .xfs, .btrfs, .tmpfs, .overlayfs])
    func specialFiles(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind)
        let items: [any TreeItem] = [
            Fifo("fifo"), Socket("socket"), NullDevice("device"),
            SymbolicLink("link", to: "nowhere"),
        ]
        try Tree { for item in items { item } }.create(in: filesystem.root)
        for item in items {
            let path = filesystem.root.appending(item.name)
            try expectNothingStored(.unsupportedFileKind, on: path.withoutFollowing)
            try #expect(path.withoutFollowing.marks() == Marks.none)
            try expectRefusedAsEntry(item.name, of: filesystem.root)
        }
    }

    private func expectRefusedAsEntry(_ name: FileName, of root: FilePath) throws {
        let directory = try FileDescriptor.open(root, .readOnly)
        defer { try? directory.close() }
        let entry = DirectoryEntryLocation(directory: directory, name: FilePath(bytes: name.bytes))
        try expectNothingStored(.unsupportedFileKind, on: entry)
    }

    @Test(
        "an immutable or append-only file is immutable, and keeps its marks",
        arguments: ["i", "a"])
    func immutable(flag: String) throws {
        try require(.tool("chattr"))
        let filesystem = try filesystem(.ext4) { File("f").purgeable() }
        let file = filesystem.root.appending("f")
        try tool("chattr", "+\(flag)", file)
        try expectNothingStored(.immutable, on: file)
        #expect(code { try file.removeValue(for: .isPurgeable) } == .immutable)
        try #expect(file.value(for: .isPurgeable) == true)
    }

    @Test(
        "a filesystem without user attributes is unsupportedFilesystem, and reads as unset",
        arguments: ["/proc/self/status", "/proc", "/dev/pts"])
    func withoutAttributes(path: String) throws {
        // Anyone else is stopped by the permissions of these files first.
        try require(.root)
        try expectNothingStored(.unsupportedFilesystem, on: FilePath(path))
        try #expect(FilePath(path).marks() == Marks.none)
    }
}
