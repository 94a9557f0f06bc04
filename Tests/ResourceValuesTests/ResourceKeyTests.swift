import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Keys", .cleansUp)
struct ResourceKeyTests {
    @Test(
        "every key is found by each of its names, and by no other", arguments: ResourceKey.allCases)
    func names(key: ResourceKey) {
        #expect(ResourceKey(anyName: key.name) == key)
        #expect(ResourceKey(anyName: key.foundationName) == key)
        if let shortName = key.shortName { #expect(ResourceKey(anyName: shortName) == key) }
        #expect(ResourceKey(anyName: key.name.uppercased()) == nil)
        #expect((key.shortName != nil) == (key.stored != nil))
        #expect(key.stored?.name ?? key.name == key.name)
    }

    @Test("Foundation's raw keys are spelled as Apple spells them")
    func foundationNames() {
        #expect(ResourceKey.isExcludedFromBackup.foundationName == "NSURLIsExcludedFromBackupKey")
        #expect(ResourceKey.fileProtection.foundationName == "NSURLFileProtectionKey")
        #expect(ResourceKey.volumeTotalCapacity.foundationName == "NSURLVolumeTotalCapacityKey")
    }

    @Test("sizes are known for regular files only, and never 0 for unknown")
    func sizes() throws {
        let root = try temporaryDirectory {
            File("file", "12345")
            SparseFile("sparse", hole: 1 << 20)
            Directory("directory")
            Fifo("fifo")
        }
        try #expect(root.appending("file").resourceValue(for: .fileSize) == .number(5))
        let sparse = root.appending("sparse")
        try #expect(sparse.resourceValue(for: .fileSize) == .number(1 << 20))
        try #expect(sparse.resourceValue(for: .fileAllocatedSize) == .number(0))
        for name in ["directory", "fifo"] {
            let item = root.appending(name)
            try #expect(item.resourceValue(for: .fileSize) == nil)
            try #expect(item.resourceValue(for: .totalFileAllocatedSize) == nil)
            try #expect(item.resourceValue(for: .linkCount) != nil)
        }
        try #expect(FilePath("/proc").resourceValue(for: .volumeTotalCapacity) == nil)
        try #expect(FilePath("/proc").volumeCapacity() == nil)
    }

    @Test("the allocated size counts blocks of attributes where the kernel does")
    func attributeBlocks() throws {
        let filesystem = try filesystem(.ext4SmallInodes) { File("f") }
        let file = filesystem.root.appending("f")
        try #expect(file.resourceValue(for: .totalFileAllocatedSize) == .number(0))
        let block = Int64(try filesystemStatus(of: file).fragmentSize)
        try file.setValue(true, for: .isPurgeable)
        try #expect(file.resourceValue(for: .totalFileAllocatedSize) == .number(block))
    }

    @Test("a value's text is read strictly")
    func valueTexts() {
        #expect(StoredKey.isPurgeable.value(ofText: "TRUE") == true)
        #expect(StoredKey.isPurgeable.value(ofText: "0") == false)
        #expect(StoredKey.isPurgeable.value(ofText: "true\n") == nil)
        #expect(StoredKey.isPurgeable.value(ofText: "") == nil)
        #expect(StoredKey.fileProtection.value(ofText: "COMPLETE") == .protection(.complete))
        #expect(StoredKey.fileProtection.value(ofText: "1") == nil)
    }
}
