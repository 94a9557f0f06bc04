import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Keys")
struct ResourceKeyTests {
    @Test(
        "every key is found by each of its names, and by no other", arguments: ResourceKey.allCases)
    func names(key: ResourceKey) {
        #expect(ResourceKey(anyName: key.name) == key)
        #expect(ResourceKey(anyName: key.foundationName) == key)
        if let shortName = key.shortName { #expect(ResourceKey(anyName: shortName) == key) }
        #expect(ResourceKey(anyName: key.name.uppercased()) == nil)
        #expect((key.shortName != nil) == key.isStored)
        #expect(key.valueTexts.isEmpty != key.isStored)
    }

    @Test("Foundation's raw keys are spelled as Apple spells them")
    func foundationNames() {
        #expect(ResourceKey.isExcludedFromBackup.foundationName == "NSURLIsExcludedFromBackupKey")
        #expect(ResourceKey.fileProtection.foundationName == "NSURLFileProtectionKey")
        #expect(ResourceKey.volumeTotalCapacity.foundationName == "NSURLVolumeTotalCapacityKey")
    }

    @Test("sizes are known for regular files only, and never 0 for unknown")
    func sizes() throws {
        let tree = Tree {
            File("file", "12345")
            SparseFile("sparse", hole: 1 << 20)
            Directory("directory")
            Fifo("fifo")
        }
        try withTemporaryDirectory(containing: tree) { root in
            #expect(try root.appending("file").resourceValue(for: .fileSize) == .number(5))
            let sparse = root.appending("sparse")
            #expect(try sparse.resourceValue(for: .fileSize) == .number(1 << 20))
            #expect(try sparse.resourceValue(for: .fileAllocatedSize) == .number(0))
            for name in ["directory", "fifo"] {
                let item = root.appending(name)
                #expect(try item.resourceValue(for: .fileSize) == nil)
                #expect(try item.resourceValue(for: .totalFileAllocatedSize) == nil)
                #expect(try item.resourceValue(for: .linkCount) != nil)
            }
            #expect(try FilePath("/proc").resourceValue(for: .volumeTotalCapacity) == nil)
            #expect(try FilePath("/proc").volumeCapacity() == nil)
        }
    }

    @Test("the allocated size counts blocks of attributes where the kernel does")
    func attributeBlocks() throws {
        try withFilesystem(.ext4SmallInodes) { filesystem in
            try Tree { File("f") }.create(in: filesystem.root)
            let file = filesystem.root.appending("f")
            #expect(try file.resourceValue(for: .totalFileAllocatedSize) == .number(0))
            try file.setValue(true, for: .isPurgeable)
            #expect(try file.resourceValue(for: .totalFileAllocatedSize) == .number(4096))
        }
    }

    @Test("a value's text is read strictly")
    func valueTexts() {
        #expect(ResourceValue(text: "TRUE", for: .isPurgeable) == .boolean(true))
        #expect(ResourceValue(text: "0", for: .isPurgeable) == .boolean(false))
        #expect(ResourceValue(text: "true\n", for: .isPurgeable) == nil)
        #expect(ResourceValue(text: "", for: .isPurgeable) == nil)
        #expect(
            ResourceValue(text: "COMPLETE", for: .fileProtection) == .protection(.complete))
        #expect(ResourceValue(text: "1", for: .fileSize) == nil)
    }
}
