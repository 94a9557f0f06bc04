import Foundation
import ResourceValues
import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("System calls that values cost", .cleansUp)
struct CallCountTests {
    /// The calls that reading some keys of a file makes, by how often.
    private func calls(_ keys: [Key]) throws -> [SystemCall: Int] {
        let root = try temporaryDirectory { File("f").excluded() }
        let url = root.appending("f").url
        let mock = SystemCallMock([:])
        _ = try mock.run { try url.resourceValues(forKeys: keys) }
        return mock.calls
    }

    @Test("a mark costs one getxattr, and a size one statx more")
    func twoKeys() throws {
        try #expect(calls([.isExcludedFromBackupKey]) == [.getxattr: 1])
        try #expect(calls([.isExcludedFromBackupKey, .fileSizeKey]) == [.getxattr: 1, .statx: 1])
    }

    @Test("all that one statx answers costs one")
    func status() throws {
        let keys: [Key] = [
            .fileSizeKey, .fileAllocatedSizeKey, .isDirectoryKey, .isRegularFileKey,
            .creationDateKey, .contentModificationDateKey, .linkCountKey, .fileIdentifierKey,
            .isUserImmutableKey, .isVolumeKey, .fileResourceTypeKey, .preferredIOBlockSizeKey,
        ]
        try #expect(calls(keys) == [.statx: 1])
        try #expect(calls([]) == [.statx: 1])
    }

    @Test("whether an item is evicted costs a list of its attributes")
    func evicted() throws {
        let made = try calls([.ubiquitousItemIsDownloadingKey, .ubiquitousItemDownloadingStatusKey])
        #expect(made == [.statx: 1, .listxattr: 1])
    }

    @Test("a fact about a volume that was met costs two statx, and one about its devices no more")
    func knownVolume() throws {
        let filesystem = try filesystem(.ext4)
        let url = filesystem.root.url
        let keys: [Key] = [.volumeTypeNameKey, .volumeURLKey, .volumeIsRemovableKey]
        let first = try url.resourceValues(forKeys: keys).allValues
        #expect(first.count == keys.count)
        let mock = SystemCallMock([:])
        let again = try mock.run { try url.resourceValues(forKeys: keys) }.allValues
        #expect(again.keys == first.keys)
        #expect(mock.calls == [.statx: 2])
    }

    @Test("the volume's space costs no look at the mounts, and is asked for once")
    func capacity() throws {
        let made = try calls([
            .volumeTotalCapacityKey, .volumeAvailableCapacityKey,
            .volumeAvailableCapacityForImportantUsageKey,
            .volumeAvailableCapacityForOpportunisticUsageKey,
        ])
        // One more status is that of the directory for records of purge plans, which is not there.
        #expect(made == [.statx: 2, .openat: 1, .fstatfs: 1, .fstatvfs: 1, .close: 1])
    }

    /// How often writing a file synchronizes anything.
    private func synchronizations(_ write: (URL) throws -> Void) throws -> Int {
        let root = try temporaryDirectory()
        let url = root.appending("f").url
        let mock = SystemCallMock([:])
        try mock.run { try write(url) }
        return mock.calls[.fsync, default: 0]
    }

    @Test("only an atomic write waits for the disk, once for the content, as Foundation's does")
    func writing() throws {
        let data = Data("text".utf8)
        #expect(try synchronizations { try data.writeKeepingMarks(to: $0) } == 0)
        #expect(
            try synchronizations {
                try data.writeKeepingMarks(to: $0, options: .completeFileProtection)
            } == 0)
        #expect(try synchronizations { try data.writeKeepingMarks(to: $0, options: .atomic) } == 1)
        #expect(
            try synchronizations {
                let path = FilePath($0.path)
                try data.withUnsafeBytes { try path.writeFile($0) }
            } == 2)
    }
}
