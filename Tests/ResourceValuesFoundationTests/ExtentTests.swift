import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

@Suite("Side by side with filefrag and lsattr", .cleansUp)
struct ExtentTests {
    @Test(
        "a hole is a hole, an allocated range that was not written is none",
        arguments: comparedKinds)
    func holes(kind: FilesystemKind) throws {
        try require(.tool("filefrag"), .tool("fallocate"))
        let filesystem = try filesystem(kind) {
            File("empty")
            File("full", Array(repeating: 7, count: 300_000))
            SparseFile("front", hole: 1 << 20, data: "data")
            SparseFile("allHole", hole: 1 << 20)
            SparseFile("many", hole: 1 << 20)
            File("allocated")
        }
        try tool("fallocate", "-l", "1MiB", filesystem.root.appending("allocated"))
        // More extents than one call tells.
        for block in 0..<60 {
            try tool(
                "dd", "if=/dev/zero", "of=\(filesystem.root)/many", "bs=4096", "count=1",
                "seek=\(block * 4)", "conv=notrunc", "status=none")
        }
        try tool("sync", "-f", filesystem.root)
        for name in ["empty", "full", "front", "allHole", "many", "allocated"] as [FileName] {
            let path = filesystem.root.appending(name)
            let expected = try hasHole(path)
            try #expect(path.value(.isSparseKey) as? Bool == expected, "\(name)")
        }
        try #expect(filesystem.root.value(.isSparseKey) == nil)
    }

    /// Whether filefrag's extents leave a part of the file uncovered.
    private func hasHole(_ path: FilePath) throws -> Bool {
        let size = try Int(tool("stat", "-c", "%s", path)) ?? -1
        var covered = 0
        for line in try tool("filefrag", "-v", "-b1", path).split(separator: "\n") {
            let fields = line.split { " :.".contains($0) }
            guard fields.count > 5, let start = Int(fields[1]), Int(fields[0]) != nil,
                let end = Int(fields[2])
            else { continue }
            if start > covered { return true }
            covered = max(covered, end + 1)
        }
        return covered < size
    }

    @Test("shared content is told where files can be cloned", arguments: comparedKinds)
    func clones(kind: FilesystemKind) throws {
        try require(.tool("filefrag"))
        let filesystem = try filesystem(kind) {
            File("f", Array(repeating: 7, count: 300_000))
        }
        let file = filesystem.root.appending("f")
        try tool("sync", "-f", filesystem.root)
        try #expect(file.value(.mayShareFileContentKey) as? Bool == false)
        let clone = try Command(
            FilePath("/bin/cp"), "--reflink=always", file, filesystem.root.appending("clone")
        ).run()
        let canClone = clone.exitCode == 0
        #expect(canClone == (kind != .ext4))
        try #expect(file.value(.volumeSupportsFileCloningKey) as? Bool == canClone)
        let isShared = try tool("filefrag", "-v", file).contains("shared")
        #expect(isShared == canClone)
        try #expect(file.value(.mayShareFileContentKey) as? Bool == isShared)
    }

    @Test("the immutable flag is what lsattr shows, both ways", arguments: comparedKinds)
    func immutable(kind: FilesystemKind) throws {
        try require(.tool("lsattr"), .tool("chattr"))
        let filesystem = try filesystem(kind) { File("f") }
        let file = filesystem.root.appending("f")
        func lsattr() throws -> Bool {
            try tool("lsattr", "-d", file).prefix { $0 != " " }.contains("i")
        }
        let keys: Set<Key> = [.isUserImmutableKey, .isSystemImmutableKey]
        for isImmutable in [true, false] {
            try tool("chattr", isImmutable ? "+i" : "-i", file)
            try #expect(lsattr() == isImmutable)
            let read = try file.url.resourceValues(forKeys: keys)
            #expect(read.isUserImmutable == isImmutable)
            #expect(read.isSystemImmutable == isImmutable)
        }
        var values = URLResourceValues()
        values.isPurgeable = true
        values.isUserImmutable = true
        try file.url.setResourceValues(values)
        try #expect(lsattr())
        try expectError(.fileWriteNoPermission) { try file.url.setResourceValues(markOnly()) }
        values.isUserImmutable = false
        values.isPurgeable = false
        try file.url.setResourceValues(values)
        try #expect(!lsattr())
        try #expect(file.value(for: .isPurgeable) == false)
        try #expect(file.value(.volumeSupportsImmutableFilesKey) as? Bool == true)
    }

    private func markOnly() -> URLResourceValues {
        var values = URLResourceValues()
        values.isPurgeable = true
        return values
    }

    @Test("extended attributes are told of any name", arguments: comparedKinds)
    func attributes(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { File("f") }
        let file = filesystem.root.appending("f")
        try #expect(file.value(.mayHaveExtendedAttributesKey) as? Bool == false)
        try file.setExtendedAttribute(named: "user.anything", to: [1])
        try #expect(file.value(.mayHaveExtendedAttributesKey) as? Bool == true)
    }

    @Test("a directory's entries are counted as ls counts them", arguments: comparedKinds)
    func entryCount(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) {
            for number in 0..<1000 { File("\(number)") }
        }
        let listed = try tool("ls", "-A", filesystem.root).split(separator: "\n").count
        try #expect(filesystem.root.value(.directoryEntryCountKey) as? Int == listed)
        #expect(listed >= 1000)
        try #expect(filesystem.root.appending("1").value(.directoryEntryCountKey) == nil)
    }
}
