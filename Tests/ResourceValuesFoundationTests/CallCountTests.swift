import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("System calls that values cost")
struct CallCountTests {
    /// The calls that reading some keys of a file makes, by how often.
    private func calls(_ keys: [Key]) throws -> [SystemCall: Int] {
        try withTemporaryDirectory(containing: Tree { File("f").excluded() }) { root in
            let url = root.appending("f").url
            let mock = SystemCallMock([:])
            _ = try mock.run { try url.resourceValues(forKeys: keys) }
            return mock.calls
        }
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
        let made = try calls([.isUbiquitousItemKey, .ubiquitousItemDownloadingStatusKey])
        #expect(made == [.statx: 1, .listxattr: 1])
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
}
