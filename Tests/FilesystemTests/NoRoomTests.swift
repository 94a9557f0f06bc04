import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("No room for a mark", .cleansUp)
struct NoRoomTests {
    @Test(
        "a full attribute block is noSpace, and the mark is not stored",
        arguments: [FilesystemKind.ext4, .ext4SmallBlocks, .ext4SmallInodes])
    func attributeBlock(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { File("f") }
        let file = filesystem.root.appending("f")
        let stored = try fill(file)
        #expect(stored > 0)
        try expectNothingStored(.noSpace, on: file)
        try #expect(file.extendedAttributeNames().count == stored)
    }

    @Test("a value beyond the kernel's limit is tooLarge", arguments: FilesystemKind.allCases)
    func value(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { File("f") }
        let file = filesystem.root.appending("f")
        let value = Array(repeating: UInt8(ascii: "x"), count: 65537)
        let thrown = code { try file.setExtendedAttribute(named: "user.a", to: value) }
        #expect(thrown == .tooLarge)
        try #expect(file.extendedAttributeNames() == [])
    }

    @Test("a used-up quota is quotaExceeded, and the mark is not stored")
    func quota() throws {
        let volume = try directoryWithUsedUpQuota()
        try expectNothingStored(.quotaExceeded, on: volume.appending("f199"))
        let file = volume.appending("f198")
        let value = Array(repeating: UInt8(ascii: "x"), count: 3000)
        #expect(
            code { try file.setExtendedAttribute(named: "user.a", to: value) } == .quotaExceeded
        )
        try #expect(file.extendedAttribute(named: "user.a") == nil)
    }

    /// Stores attributes until there is no room for even a small one.
    private func fill(_ file: FilePath) throws -> Int {
        var count = 0
        for size in [100, 10, 1] {
            let value = Array(repeating: UInt8(ascii: "x"), count: size)
            while true {
                let name = ExtendedAttributeName("user.filler.\(count)")
                guard let thrown = code({ try file.setExtendedAttribute(named: name, to: value) })
                else {
                    count += 1
                    continue
                }
                #expect(thrown == .noSpace)
                break
            }
        }
        return count
    }
}

/// Expects that storing a mark fails with a code and leaves the item without it.
func expectNothingStored(
    _ expected: FileError.Code, on item: some FileLocation,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let thrown = code { try item.setValue(true, for: .isExcludedFromBackup) }
    #expect(thrown == expected, sourceLocation: sourceLocation)
    try #expect(item.mark(for: .isExcludedFromBackup) == .unset, sourceLocation: sourceLocation)
}
