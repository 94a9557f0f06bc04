import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

@Suite("Side by side with findmnt, statfs and blkid", .cleansUp)
struct VolumeTests {
    @Test("mount point, type, source and access are findmnt's", arguments: comparedKinds + [.tmpfs])
    func findmnt(kind: FilesystemKind) throws {
        try require(.tool("findmnt"))
        let filesystem = try filesystem(kind) { File("f") }
        let values = try filesystem.root.appending("f").url.resourceValues(forKeys: [
            .volumeURLKey, .volumeTypeNameKey, .volumeMountFromLocationKey,
            .volumeIsReadOnlyKey, .volumeIsRootFileSystemKey, .volumeIsLocalKey,
            .isVolumeKey, .volumeIsEncryptedKey, .volumeIsRemovableKey,
        ])
        let told = try tool(
            "findmnt", "-nr", "-o", "TARGET,FSTYPE,SOURCE,OPTIONS", "-M", filesystem.root
        ).split(separator: " ").map(String.init)
        #expect(values.volume == URL(filePath: told[0], directoryHint: .isDirectory))
        #expect(values.volumeTypeName == told[1])
        #expect(values.volumeMountFromLocation == told[2])
        #expect(values.volumeIsReadOnly == told[3].split(separator: ",").contains("ro"))
        #expect(values.volumeIsRootFileSystem == false)
        #expect(values.volumeIsLocal == true)
        // A loop device is neither, and tmpfs has none.
        let ofDevice = kind == .tmpfs ? nil : false
        #expect(values.volumeIsEncrypted == ofDevice)
        #expect(values.volumeIsRemovable == ofDevice)
        #expect(values.isVolume == false)
        try #expect(filesystem.root.value(.isVolumeKey) as? Bool == true)
    }

    @Test("space and inodes are what stat -f tells", arguments: comparedKinds + [.tmpfs])
    func statfs(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { File("f", Array(repeating: 7, count: 1 << 20)) }
        try tool("sync", "-f", filesystem.root)
        let values = try filesystem.root.appending("f").url.resourceValues(forKeys: [
            .volumeTotalCapacityKey, .volumeAvailableCapacityKey,
            .volumeAvailableCapacityForImportantUsageKey,
            .volumeAvailableCapacityForOpportunisticUsageKey, .volumeResourceCountKey,
            .volumeSupportsVolumeSizesKey,
        ])
        let told = try tool("stat", "-f", "-c", "%b %a %S %c %d", filesystem.root)
            .split(separator: " ").compactMap { Int($0) }
        let (total, available) = (told[0] * told[2], told[1] * told[2])
        #expect(values.volumeTotalCapacity == total)
        #expect(values.volumeAvailableCapacity == available)
        #expect(values.volumeAvailableCapacityForImportantUsage == Int64(available))
        #expect(
            values.volumeAvailableCapacityForOpportunisticUsage
                == Int64(available - total / 10))
        #expect(values.volumeResourceCount == (told[3] == 0 ? nil : told[3] - told[4]))
        #expect(values.volumeSupportsVolumeSizes == true)
    }

    @Test(
        "UUID and label are the filesystem's; without a label the mount point names it",
        arguments: comparedKinds)
    func identity(kind: FilesystemKind) throws {
        try require(.tool("blkid"))
        let filesystem = try filesystem(kind)
        let root = filesystem.root
        let source = try tool("findmnt", "-nr", "-o", "SOURCE", "-M", root)
        let told = try tool("blkid", "-p", "-o", "value", "-s", "UUID", source)
        #expect(told.count == 36)
        try #expect(root.value(.volumeUUIDStringKey) as? String == told)
        try #expect(root.value(.volumeNameKey) as? String == root.lastComponent?.string)
        switch kind {
        case .xfs: try tool("xfs_io", "-c", "label -s named", root)
        case .btrfs: try tool("btrfs", "filesystem", "label", root, "named")
        default: try tool("tune2fs", "-L", "named", source)
        }
        try #expect(root.value(.volumeNameKey) as? String == "named")
        try #expect(root.value(.volumeLocalizedNameKey) as? String == "named")
    }

    @Test("/ is the root filesystem, and its volume is /")
    func rootFilesystem() throws {
        let values = try URL(fileURLWithPath: "/etc/group").resourceValues(forKeys: [
            .volumeURLKey, .volumeIsRootFileSystemKey, .volumeNameKey,
        ])
        let target = try tool("findmnt", "-nr", "-o", "TARGET", "-T", "/etc/group")
        try #require(target == "/")
        #expect(values.volume == URL(fileURLWithPath: "/"))
        #expect(values.volumeIsRootFileSystem == true)
        #expect(values.volumeName != nil)
    }

    @Test(
        "a view of the kernel is local, and has no devices, no UUID and no capacity, not one of 0")
    func pseudo() throws {
        let values = try URL(fileURLWithPath: "/proc/self").resourceValues(forKeys: [
            .volumeURLKey, .volumeTypeNameKey, .volumeIsLocalKey, .volumeSupportsVolumeSizesKey,
            // Without a value.
            .volumeIsEncryptedKey, .volumeIsRemovableKey, .volumeUUIDStringKey,
            .volumeTotalCapacityKey, .volumeAvailableCapacityKey,
            .volumeAvailableCapacityForImportantUsageKey,
            .volumeAvailableCapacityForOpportunisticUsageKey, .volumeSupportsHardLinksKey,
            .volumeIsJournalingKey, .volumeSupportsFileCloningKey,
        ])
        #expect(values.volume?.path == "/proc")
        #expect(values.volumeTypeName == "proc")
        #expect(values.volumeIsLocal == true)
        #expect(values.volumeSupportsVolumeSizes == false)
        #expect(values.allValues.count == 4)
    }

    @Test("a bind mount is a volume of its own place, on the same filesystem")
    func bindMount() throws {
        let filesystem = try filesystem(.ext4) {
            Directory("a") { File("f") }
            Directory("b")
        }
        let (from, to) = (filesystem.root.appending("a"), filesystem.root.appending("b"))
        try tool("mount", "--bind", from, to)
        try afterwards { try tool("umount", to) }
        let values = try to.appending("f").url.resourceValues(forKeys: [
            .volumeURLKey, .volumeUUIDStringKey,
        ])
        #expect(values.volume?.path == to.string)
        #expect(values.volumeUUIDString != nil)
        let first = try from.value(.volumeIdentifierKey) as? NSObject
        #expect(first != nil)
        try #expect(to.value(.volumeIdentifierKey) as? NSObject == first)
    }

    @Test("btrfs subvolumes are on one volume")
    func subvolumes() throws {
        let filesystem = try filesystem(.btrfs)
        let subvolume = filesystem.root.appending("s")
        try tool("btrfs", "subvolume", "create", subvolume)
        let first = try filesystem.root.value(.volumeIdentifierKey) as? NSObject
        try #expect(subvolume.value(.volumeIdentifierKey) as? NSObject == first)
        try #expect(
            subvolume.value(.volumeURLKey) as? URL == filesystem.root.url(isDirectory: true))
    }
}

extension FilePath {
    fileprivate func url(isDirectory: Bool) -> URL {
        URL(filePath: string, directoryHint: isDirectory ? .isDirectory : .notDirectory)
    }
}
