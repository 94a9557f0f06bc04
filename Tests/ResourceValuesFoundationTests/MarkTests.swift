import ResourceValues
import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Marks through URLs", .cleansUp)
struct MarkTests {
    @Test("what is set is stored in the format's words, read back, and removed")
    func roundTrip() throws {
        let file = try temporaryFile()
        var url = URL(fileURLWithPath: file.string)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        values.isPurgeable = false
        values.fileProtection = .completeUnlessOpen
        try url.setResourceValues(values)
        #expect(url == URL(fileURLWithPath: file.string))
        try #expect(file.value(for: .isExcludedFromBackup) == true)
        try #expect(file.value(for: .isPurgeable) == false)
        try #expect(file.fileProtection == .completeUnlessOpen)
        let read = try url.resourceValues(forKeys: [
            .isExcludedFromBackupKey, .isPurgeableKey, .fileProtectionKey,
        ])
        #expect(read.isExcludedFromBackup == true)
        #expect(read.isPurgeable == false)
        #expect(read.fileProtection == .completeUnlessOpen)
        #expect(read.allValues.count == 3)
        try url.removeResourceValues(forKeys: [.isPurgeableKey, .fileSizeKey])
        try #expect(file.value(for: .isPurgeable) == nil)
        try #expect(url.resourceValues(forKeys: [.isPurgeableKey]).isPurgeable == nil)
        try #expect(file.value(for: .isExcludedFromBackup) == true)
    }

    @Test("every stored key is read, stored and removed", arguments: StoredKey.allCases)
    func everyKey(key: StoredKey) throws {
        let known = try #require(ResourceKey(rawValue: key.rawValue))
        let foundationKey = Key(rawValue: known.foundationName)
        let root = try temporaryDirectory {
            File("f"); File("g")
        }
        let (file, copy) = (root.appending("f"), root.appending("g"))
        let text = try #require(key.valueTexts.last)
        let value = try #require(key.value(ofText: text))
        try file.apply([MarkChange(key, to: value)])
        // What is no mark is not stored on the copy.
        let read = try file.url.resourceValues(forKeys: [foundationKey, .fileSizeKey])
        #expect(read.allValues.count == 2)
        try copy.url.setResourceValues(read)
        try #expect(copy.marks() == file.marks())
        try copy.url.removeResourceValues(forKeys: [foundationKey])
        try #expect(copy.marks().isEmpty)
    }

    @Test("an assigned nil leaves what is stored, and other keys stay nil")
    func assignedNil() throws {
        let root = try temporaryDirectory { File("f").purgeable() }
        let url = root.appending("f").url
        var values = URLResourceValues()
        values.isPurgeable = nil
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        try #expect(root.appending("f").value(for: .isPurgeable) == true)
        let read = try url.resourceValues(forKeys: [.isExcludedFromBackupKey])
        #expect(read.isPurgeable == nil)
        #expect(read.isExcludedFromBackup == true)
    }

    @Test("each protection class is stored under its name", arguments: FileProtection.allCases)
    func protection(stored: FileProtection) throws {
        let file = try temporaryFile()
        let name = stored.rawValue.prefix(1).uppercased() + stored.rawValue.dropFirst()
        var values = URLResourceValues()
        values.fileProtection = URLFileProtection(rawValue: "NSURLFileProtection" + name)
        try file.url.setResourceValues(values)
        try #expect(file.fileProtection == stored)
        let read = try file.url.resourceValues(forKeys: [.fileProtectionKey]).fileProtection
        #expect(read == values.fileProtection)
    }

    @Test("an unknown protection class is refused, and nothing is stored")
    func unknownProtection() throws {
        let file = try temporaryFile()
        var values = URLResourceValues()
        values.isPurgeable = true
        values.fileProtection = URLFileProtection(rawValue: "NSURLFileProtectionSecret")
        try expectError(.featureUnsupported) { try file.url.setResourceValues(values) }
        try #expect(file.marks() == Marks.none)
    }

    @Test("a malformed mark throws, and other keys are answered")
    func malformedMark() throws {
        let file = try temporaryFile()
        try file.setExtendedAttribute(
            named: StoredKey.isPurgeable.attribute, to: Array("maybe".utf8))
        try expectError(.fileReadCorruptFile) {
            _ = try file.url.resourceValues(forKeys: [.isPurgeableKey])
        }
        try #expect(file.url.resourceValues(forKeys: [.fileSizeKey]).fileSize == 0)
    }

    @Test("a class that is malformed or cannot be read is complete among all attributes")
    func brokenClass() throws {
        let attribute: ExtendedAttributeName = "user.resval.fileProtection"
        let root = try temporaryDirectory {
            File("malformed").attribute(attribute, "none of these")
            File("long").attribute(attribute, [UInt8](repeating: 0x6E, count: 300))
            File("unreadable").attribute(attribute, "none"); File("plain")
        }
        func protection(_ name: FileName) throws -> FileProtectionType? {
            let path = root.appending(name).string
            let attributes = try FileManager.default.allAttributesOfItem(atPath: path)
            return attributes[.protectionKey] as? FileProtectionType
        }
        try #expect(protection("malformed") == .complete)
        try #expect(protection("long") == .complete)
        try #expect(protection("plain") == nil)
        let mock = SystemCallMock([.getxattr: [.ioError]])
        try #expect(mock.run { try protection("unreadable") } == .complete)
    }

    @Test("an item that was never excluded is not excluded, as on Apple's systems")
    func unsetExclusion() throws {
        let root = try temporaryDirectory {
            File("f"); Directory("d")
        }
        for name in ["f", "d"] as [FileName] {
            let item = root.appending(name)
            let read = try item.url.resourceValues(forKeys: [
                .isExcludedFromBackupKey, .isPurgeableKey, .fileProtectionKey,
            ])
            #expect(read.isExcludedFromBackup == false)
            #expect(read.allValues[.isExcludedFromBackupKey] as? Bool == false)
            #expect(read.allValues.count == 1)
            // What was never asked for stays nil, and the core tells unset from false.
            try #expect(item.url.resourceValues(forKeys: [.nameKey]).isExcludedFromBackup == nil)
            try #expect(item.value(for: .isExcludedFromBackup) == nil)
        }
    }

    @Test("storing what was read as unset stores nothing, and unsets what is set")
    func copiedUnset() throws {
        let root = try temporaryDirectory {
            File("f"); File("g"); File("h").excluded()
        }
        var values = try root.appending("f").url.resourceValues(forKeys: [.isExcludedFromBackupKey])
        for name in ["g", "h"] as [FileName] {
            try root.appending(name).url.setResourceValues(values)
            try #expect(root.appending(name).marks() == Marks.none)
        }
        // Nothing is set here, and nothing can be.
        try URL(fileURLWithPath: "/proc/self/status").setResourceValues(values)
        values.isExcludedFromBackup = false
        try root.appending("g").url.setResourceValues(values)
        try #expect(root.appending("g").value(for: .isExcludedFromBackup) == false)
    }
}
