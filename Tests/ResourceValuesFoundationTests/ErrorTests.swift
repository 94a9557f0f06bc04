import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

@Suite("Errors", .cleansUp)
struct ErrorTests {
    /// The error of storing two marks.
    private func storingError(_ url: URL) throws -> CocoaError {
        try #require(throws: CocoaError.self) { try url.setResourceValues(marks()) }
    }

    private func marks() -> URLResourceValues {
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        values.isPurgeable = true
        return values
    }

    private func unsetKeys(_ error: CocoaError) -> Set<Key> {
        Set(error.userInfo[Key.keysOfUnsetValuesKey.rawValue] as? [Key] ?? [])
    }

    @Test("a missing file throws for every key, with the path and the errno")
    func missingFile() throws {
        let url = URL(fileURLWithPath: "/nonexistent/file")
        for key in [Key.fileSizeKey, .isPurgeableKey, .isUbiquitousItemKey, .nameKey, .pathKey] {
            let error = try #require(throws: CocoaError.self) {
                _ = try url.resourceValues(forKeys: [key])
            }
            #expect(error.code == .fileReadNoSuchFile)
            #expect(error.filePath == "/nonexistent/file")
            #expect((error.underlying as? POSIXError)?.code == .ENOENT)
        }
        try expectError(.fileReadNoSuchFile) { _ = try url.resourceValues(forKeys: [] as [Key]) }
        let error = try storingError(url)
        #expect(error.code == .fileNoSuchFile)
        #expect(unsetKeys(error) == [.isExcludedFromBackupKey, .isPurgeableKey])
        try expectError(.fileNoSuchFile) { try url.setResourceValues(URLResourceValues()) }
        try expectError(.fileNoSuchFile) {
            try url.removeResourceValues(forKeys: [.isPurgeableKey])
        }
    }

    @Test(
        "a URL that is no file's throws",
        arguments: ["https://example.org/f", "mailto:a@example.org", "file://elsewhere/etc/passwd"])
    func otherURLs(text: String) throws {
        let url = try #require(URL(string: text))
        try expectError(.fileReadUnsupportedScheme) {
            _ = try url.resourceValues(forKeys: [.fileSizeKey])
        }
        try #expect(storingError(url).code == .fileReadUnsupportedScheme)
    }

    @Test("a symbolic link is never followed: its marks are nil and cannot be set")
    func symbolicLink() throws {
        let root = try temporaryDirectory {
            Directory("d").excluded(); SymbolicLink("link", to: "d")
        }
        for name in ["link", "link/"] {
            let url = URL(fileURLWithPath: "\(root)/\(name)")
            let read = try url.resourceValues(forKeys: [
                .isExcludedFromBackupKey, .isSymbolicLinkKey,
            ])
            #expect(read.isExcludedFromBackup == nil)
            #expect(read.isSymbolicLink == true)
            let error = try storingError(url)
            #expect(error.code == .featureUnsupported)
            #expect((error.underlying as? POSIXError)?.code == .EPERM)
        }
        try #expect(root.appending("d").value(for: .isPurgeable) == nil)
    }

    @Test("a filesystem without user attributes throws featureUnsupported, and reads as nil")
    func unsupportedFilesystem() throws {
        try require(.root)
        let url = URL(fileURLWithPath: "/proc/self/status")
        let error = try storingError(url)
        #expect(error.code == .featureUnsupported)
        #expect((error.underlying as? POSIXError)?.code == .EOPNOTSUPP)
        #expect(unsetKeys(error) == [.isExcludedFromBackupKey, .isPurgeableKey])
        try #expect(url.resourceValues(forKeys: [.isPurgeableKey]).isPurgeable == nil)
    }

    @Test("a read-only mount throws fileWriteVolumeReadOnly, and says it is read-only")
    func readOnlyMount() throws {
        let filesystem = try filesystem(.ext4) { File("f") }
        try filesystem.remount(["ro"])
        let url = filesystem.root.appending("f").url
        try #expect(storingError(url).code == .fileWriteVolumeReadOnly)
        let read = try url.resourceValues(forKeys: [.volumeIsReadOnlyKey, .isWritableKey])
        #expect(read.volumeIsReadOnly == true)
        #expect(read.isWritable == false)
    }

    @Test("an ordinary user is refused with the code for permission")
    func ordinaryUser() throws {
        let root = try temporaryDirectory(isShared: true) {
            File("f")
            Directory("closed") { File("f") }.permissions(0o700)
        }
        let closed = root.appending("closed").appending("f").url
        try asOrdinaryUser {
            try expectError(.fileReadNoPermission) {
                _ = try closed.resourceValues(forKeys: [.fileSizeKey])
            }
            try #expect(storingError(closed).code == .fileWriteNoPermission)
            try #expect(storingError(root.appending("f").url).code == .fileWriteNoPermission)
            let read = try root.appending("closed").url.resourceValues(forKeys: [
                .isReadableKey, .isWritableKey, .isExecutableKey, .directoryEntryCountKey,
            ])
            #expect(read.isReadable == false)
            #expect(read.isWritable == false)
            #expect(read.isExecutable == false)
            #expect(read.directoryEntryCount == nil)
        }
        try #expect(root.appending("closed").value(.directoryEntryCountKey) as? Int == 1)
    }

    @Test("an ordinary user creates directories that nobody can enter afterwards")
    func directoriesWithoutEntry() throws {
        let root = try temporaryDirectory(isShared: true) { Directory("open").permissions(0o777) }
        let top = root.appending("open/a")
        try asOrdinaryUser {
            try FileManager.default.createMarkedDirectory(
                at: top.appending("b/c").url, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o600])
        }
        for path in [top, top.appending("b"), top.appending("b/c")] {
            let status = try path.status()
            #expect(status.permissions == 0o600, "\(path)")
            #expect(status.owner != 0, "\(path)")
        }
    }

    @Test("keys that were stored before the trouble are not among the unset ones")
    func partialFailure() throws {
        let root = try temporaryDirectory {
            File("f"); File("taken")
        }
        var values = marks()
        values.name = "taken"
        let error = try #require(throws: CocoaError.self) {
            try root.appending("f").url.setResourceValues(values)
        }
        #expect(error.code == .fileWriteFileExists)
        #expect(unsetKeys(error) == [.nameKey])
        try #expect(root.appending("f").value(for: .isPurgeable) == true)
    }

    @Test("what Linux cannot store is refused before anything is changed")
    func unsupportedKeys() throws {
        let file = try temporaryFile()
        let url = file.url
        let changes: [(inout URLResourceValues) -> Void] = [
            { $0.labelNumber = 1 }, { $0.tagNames = ["red"] }, { $0.isHidden = true },
            { $0.isPackage = true },
            { $0.hasHiddenExtension = true }, { $0.creationDate = .distantPast },
            { $0.volumeName = "name" }, { $0.quarantineProperties = [:] },
            { $0.ubiquitousItemIsExcludedFromSync = true },
        ]
        for change in changes {
            var values = marks()
            change(&values)
            let error = try #require(throws: CocoaError.self) {
                try url.setResourceValues(values)
            }
            #expect(error.code == .featureUnsupported)
            #expect(unsetKeys(error).count == 3)
            try #expect(file.marks() == Marks.none)
        }
    }

    @Test("a date that is no point in time does not end the program", arguments: [1, -1])
    func endlessDates(sign: Double) throws {
        let file = try temporaryFile()
        for interval in [sign * .infinity, .nan] {
            var url = file.url
            var values = URLResourceValues()
            values.contentModificationDate = Date(timeIntervalSinceReferenceDate: interval)
            // Whether a filesystem stores a time so far away is up to it.
            try? url.setResourceValues(values)
            _ = try file.marks()
        }
    }

    @Test("a value that is there already can be stored again")
    func unchangedValues() throws {
        let file = try temporaryFile()
        let url = file.url
        var values = try url.resourceValues(forKeys: [
            .creationDateKey, .isHiddenKey, .volumeNameKey, .nameKey,
            .contentModificationDateKey, .isUserImmutableKey, .isSystemImmutableKey,
        ])
        values.isPurgeable = true
        try url.setResourceValues(values)
        try #expect(file.value(for: .isPurgeable) == true)
    }
}
