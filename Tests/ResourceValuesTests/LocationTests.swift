import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Ways to a file", .cleansUp)
struct LocationTests {
    @Test(
        "names of any bytes carry values, by path and by name in a directory",
        arguments: HostileNames.all)
    func hostileNames(name: FileName) throws {
        let root = try temporaryDirectory {
            File(name); Directory("d") { Directory(name) }
        }
        try root.appending(name).setValue(true, for: .isPurgeable)
        let entry = DirectoryEntryLocation(
            directory: try opened(root), name: FilePath(bytes: name.bytes))
        try #expect(entry.value(for: .isPurgeable) == true)
        try entry.setValue(false, for: .isPurgeable)
        try #expect(root.appending(name).value(for: .isPurgeable) == false)
        try #expect(entry.removeValue(for: .isPurgeable))
        try #expect(entry.marks() == Marks.none)
        try #expect(root.appending("d").appending(name).marks() == Marks.none)
    }

    @Test(
        "an open file carries values, also when opened only to name it", arguments: [true, false])
    func descriptors(isPathOnly: Bool) throws {
        let root = try temporaryDirectory {
            File("f"); Directory("d")
        }
        for name in ["f", "d"] {
            let descriptor = try opened(root.appending(name), isPathOnly: isPathOnly)
            try descriptor.setValue(true, for: .isExcludedFromBackup)
            try #expect(descriptor.value(for: .isExcludedFromBackup) == true)
            try #expect(descriptor.marks() == Marks(isExcludedFromBackup: true))
            try #expect(descriptor.removeValue(for: .isExcludedFromBackup))
            try #expect(descriptor.extendedAttributeNames() == [])
        }
    }

    @Test("an open file is still itself when its name leads elsewhere")
    func renamedFile() throws {
        let root = try temporaryDirectory { File("f").excluded() }
        let descriptor = try opened(root.appending("f"), isPathOnly: true)
        try tool("mv", root.appending("f"), root.appending("g"))
        try Tree { File("f") }.create(in: root)
        try #expect(descriptor.value(for: .isExcludedFromBackup) == true)
        try #expect(root.appending("f").value(for: .isExcludedFromBackup) == nil)
    }

    @Test("a closed descriptor is an error, not an unset value")
    func closedDescriptor() throws {
        let closed = FileDescriptor(rawValue: 1_000_000)
        #expect(code { try closed.value(for: .isPurgeable) } != nil)
        #expect(code { try closed.marks() } != nil)
        #expect(code { try closed.setValue(true, for: .isPurgeable) } != nil)
    }

    @Test("a path beyond PATH_MAX carries values")
    func longPath() throws {
        let root = try temporaryDirectory {
            NestedDirectories(HostileNames.longest, depth: 20) { File("f") }
        }
        let file = root.appending(HostileNames.longest, times: 20).appending("f")
        try file.setValue(true, for: .isPurgeable)
        try #expect(file.value(for: .isPurgeable) == true)
        try #expect(file.withoutFollowing.marks() == Marks(isPurgeable: true))
        try #expect(file.removeValue(for: .isPurgeable))
    }

    @Test("a symbolic link is followed by path, and taken as itself where one says so")
    func symbolicLinks() throws {
        let root = try temporaryDirectory {
            File("f")
            SymbolicLink("link", to: "f")
            SymbolicLink("dangling", to: "nowhere")
            SymbolicLink("loop", to: "loop")
        }
        let link = root.appending("link")
        try link.setValue(true, for: .isExcludedFromBackup)
        try #expect(root.appending("f").value(for: .isExcludedFromBackup) == true)
        try #expect(link.value(for: .isExcludedFromBackup) == true)
        try #expect(link.withoutFollowing.value(for: .isExcludedFromBackup) == nil)
        try #expect(link.withoutFollowing.marks() == Marks.none)
        let stored = code { try link.withoutFollowing.setValue(true, for: .isPurgeable) }
        #expect(stored == .unsupportedFileKind)
        #expect(code { try root.appending("dangling").marks() } == .noSuchFile)
        #expect(code { try root.appending("loop").marks() } == .symbolicLinkLoop)
        try #expect(root.appending("dangling").withoutFollowing.marks() == Marks.none)
    }

    @Test("a symbolic link in a directory is never followed")
    func linkAsEntry() throws {
        let root = try temporaryDirectory {
            File("f").excluded(); SymbolicLink("link", to: "f")
        }
        let entry = DirectoryEntryLocation(directory: try opened(root), name: "link")
        try #expect(entry.value(for: .isExcludedFromBackup) == nil)
        let stored = code { try entry.setValue(false, for: .isExcludedFromBackup) }
        #expect(stored == .unsupportedFileKind)
        try #expect(root.appending("f").value(for: .isExcludedFromBackup) == true)
    }

    /// Opens an item until the test ends.
    private func opened(_ path: FilePath, isPathOnly: Bool = false) throws -> FileDescriptor {
        let pathOnly = FileDescriptor.OpenOptions(rawValue: 0o10000000)
        let descriptor = try FileDescriptor.open(
            path, .readOnly, options: isPathOnly ? pathOnly : [])
        try afterwards { try descriptor.close() }
        return descriptor
    }
}
