import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Writing files with marks", .cleansUp)
struct WritingTests {
    @Test("an atomic write keeps the marks, the mode and the class of the file it replaces")
    func keepsMarks() throws {
        let root = try temporaryDirectory {
            File("f", "old").excluded().protection(.complete).attribute("user.other", "x")
                .permissions(0o640)
        }
        let file = root.appending("f")
        try Data("new".utf8).write(to: file.url, options: .atomic)
        try #expect(contentsOfFile(file) == Array("new".utf8))
        try #expect(file.value(for: .isExcludedFromBackup) == true)
        try #expect(file.fileProtection == .complete)
        try #expect(file.extendedAttribute(named: "user.other") == Array("x".utf8))
        try #expect(file.status().permissions == 0o640)
        try #expect(entryCount(root) == 1)
    }

    @Test("a class among the options is stored in place of the old one")
    func storesClass() throws {
        let file = try temporaryFile("old")
        let options: [(Data.WritingOptions, FileProtection)] = [
            (.completeFileProtection, .complete),
            (.completeFileProtectionUnlessOpen, .completeUnlessOpen),
            (
                .completeFileProtectionUntilFirstUserAuthentication,
                .completeUntilFirstUserAuthentication
            ),
            (.completeFileProtectionWhenUserInactive, .completeWhenUserInactive),
            (.noFileProtection, .none),
        ]
        for (option, protection) in options {
            try Data("x".utf8).write(to: file.url, options: option)
            try #expect(file.fileProtection == protection)
        }
    }

    @Test("nothing is overwritten where that is not wanted, with or without a class")
    func doesNotOverwrite() throws {
        let file = try temporaryFile("old")
        for protection in [[], Data.WritingOptions.completeFileProtection] {
            expectError(.fileWriteFileExists) {
                try Data().write(to: file.url, options: [.withoutOverwriting, protection])
            }
        }
        try #expect(contentsOfFile(file) == Array("old".utf8))
    }

    @Test("a reader never finds the file without its class")
    func readerSeesClass() throws {
        let root = try temporaryDirectory()
        let file = root.appending("f")
        let watcher = Watcher(file)
        watcher.start()
        defer { watcher.stop() }
        let deadline = ContinuousClock.now + .seconds(20)
        var round = 0
        while watcher.seen.withClass < 200 && ContinuousClock.now < deadline {
            try Data(repeating: 1, count: 5000).write(
                to: file.url, options: .completeFileProtection)
            if round.isMultiple(of: 2) { try removeFile(file) }
            round += 1
        }
        #expect(watcher.seen.withClass > 0)
        #expect(watcher.seen.withoutClass == 0)
    }

    @Test("a writer that is killed leaves the old file or the new one, with its class")
    func killedWriter() throws {
        let root = try temporaryDirectory()
        let file = root.appending("f")
        try Data(repeating: UInt8(ascii: "0"), count: 1_000_000).write(
            to: file.url, options: .completeFileProtection)
        for hundredths in 5..<20 {
            let result = try Command(
                .tool("timeout") ?? "timeout", "-s", "KILL", "0.\(hundredths)",
                FilePath.built("foundation-tool"), "write-forever", file
            ).run()
            #expect(result.exitCode != 0)
            let content = try contentsOfFile(file)
            #expect(content.count == 1_000_000)
            #expect(Set(content).count == 1)
            try #expect(file.fileProtection == .complete)
        }
    }

    @Test("a full volume is an error, and the old file stays")
    func fullVolume() throws {
        let filesystem = try filesystem(.ext4)
        let file = filesystem.root.appending("f")
        try Data("old".utf8).write(to: file.url, options: .completeFileProtection)
        let before = try entryCount(filesystem.root)
        let big = Data(repeating: 1, count: 64 << 20)
        expectError(.fileWriteOutOfSpace) { try big.write(to: file.url, options: .atomic) }
        try #expect(contentsOfFile(file) == Array("old".utf8))
        try #expect(file.fileProtection == .complete)
        try #expect(entryCount(filesystem.root) == before)
    }

    @Test(
        "a filesystem that stores no attributes is an error, and no file appears, not even a hidden one",
        arguments: FilesystemWithoutAttributes.allCases)
    func noAttributes(_ filesystem: FilesystemWithoutAttributes) throws {
        let root = try filesystem.mounted()
        let file = root.appending("f")
        expectError(.featureUnsupported) {
            try Data().write(to: file.url, options: .completeFileProtection)
        }
        expectError(.featureUnsupported) {
            try createDirectory("\(file)", false, complete)
        }
        try #expect(entryCount(root) == 0)
        // Nothing needs storing for these: no class, and not excluded, is what applies.
        let none = [FileAttributeKey.protectionKey: FileProtectionType.none]
        try Data("x".utf8).write(to: file.url, options: [.atomic, .noFileProtection])
        try #expect(contentsOfFile(file) == Array("x".utf8))
        try createDirectory("\(root)/d", false, none)
        try setAttributes(none, of: "\(file)")
        var values = URLResourceValues()
        values.isExcludedFromBackup = false
        values.fileProtection = URLFileProtection.none
        try file.url.setResourceValues(values)
        // Where a directory above excludes the file, or gives it a class, it would.
        let above = root.removingLastComponent()
        try above.setValue(true, for: .isExcludedFromBackup)
        expectError(.featureUnsupported) { try file.url.setResourceValues(values) }
        try above.apply([
            MarkChange(.isExcludedFromBackup, to: nil),
            MarkChange(.fileProtection, to: .protection(.complete)),
        ])
        expectError(.featureUnsupported) { try file.url.setResourceValues(values) }
        values.fileProtection = nil
        try file.url.setResourceValues(values)
        // Pinning needs storing, whatever applies now.
        values.isPurgeable = false
        expectError(.featureUnsupported) { try file.url.setResourceValues(values) }
        values.isPurgeable = nil
        values.isExcludedFromBackup = true
        expectError(.featureUnsupported) { try file.url.setResourceValues(values) }
    }
}
