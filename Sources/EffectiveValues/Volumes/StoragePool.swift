import SystemCalls
import SystemPackage

/// What shares its free space: a filesystem, by its device number or, for btrfs, which gives each
/// subvolume a device number of its own, by its UUID.
package enum StoragePool: Sendable, Hashable {
    case device(UInt64)
    case btrfs([UInt8])

    /// Determines the pool of an item; where its UUID cannot be read, that of its subvolume alone.
    ///
    /// - Parameter path: the item's path; a symbolic link at its end is followed.
    package init(of path: FilePath) throws(Errno) {
        let reference = OwnedDescriptor(try openReference(to: path))
        let status = try reference.descriptor.status()
        self = .device(status.identity.device)
        // No other item can be opened without an effect, or asked for its filesystem.
        guard status.kind == .directory || status.kind == .regularFile,
            try filesystemStatus(ofOpen: reference.descriptor).type == btrfsMagic,
            let opened = try? reopenFile(reference.descriptor, flags: [.readOnly, .nonBlocking])
        else { return }
        defer { closeIgnoringErrors(opened) }
        if let uuid = try? filesystemUUID(of: opened) { self = .btrfs(uuid) }
    }
}

/// `BTRFS_SUPER_MAGIC` of linux/magic.h.
private let btrfsMagic: UInt32 = 0x9123_683E
