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
        let uuid = try withBtrfs(reference.descriptor, status) { try? filesystemUUID(of: $0) }
        self = uuid.map { .btrfs($0) } ?? .device(status.identity.device)
    }
}

/// The limits of a btrfs subvolume, from its own qgroup as the kernel shows it in `/sys/fs/btrfs`.
package struct SubvolumeLimit: Sendable, Hashable {
    /// The most bytes that the subvolume may use.
    package let limit: UInt64
    /// How many of these are used, or reserved for what is being written.
    package let used: UInt64

    /// Reads the limits of the subvolume that contains an open file, `O_PATH` included; none where it has
    /// none, or they cannot be read. Limits of qgroups of higher levels are not shown.
    package static func all(on descriptor: FileDescriptor) -> [SubvolumeLimit] {
        let directory = try? withBtrfs(descriptor, descriptor.status()) { opened in
            guard let subvolume = try? btrfsSubvolume(of: opened),
                let uuid = try? filesystemUUID(of: opened)
            else { return FilePath?.none }
            return FilePath("/sys/fs/btrfs/\(uuidText(uuid))/qgroups/0_\(subvolume)")
        }
        guard let directory = directory ?? nil else { return [] }
        func number(_ name: String) -> UInt64 {
            let text = (try? contentsOfFile(directory.appending(name))) ?? []
            return UInt64(String(decoding: text.prefix { $0 != 0x0A }, as: UTF8.self)) ?? 0
        }
        let flags = number("limit_flags")
        let reserved = ["rsv_data", "rsv_meta_prealloc", "rsv_meta_pertrans"]
            .reduce(0 as UInt64) { $0.addingSaturating(number($1)) }
        // BTRFS_QGROUP_LIMIT_MAX_RFER and _MAX_EXCL of linux/btrfs.h.
        return [(1, "referenced"), (2, "exclusive")].filter { flags & $0.0 != 0 }.map { _, name in
            SubvolumeLimit(
                limit: number("max_\(name)"), used: number(name).addingSaturating(reserved))
        }
    }
}

/// Calls `body` with a file of btrfs that is open for reading; nil for one of another filesystem, or that
/// cannot be opened without an effect.
private func withBtrfs<Result>(
    _ descriptor: FileDescriptor, _ status: FileStatus, _ body: (FileDescriptor) -> Result?
) throws(Errno) -> Result? {
    guard status.kind == .directory || status.kind == .regularFile,
        try filesystemStatus(ofOpen: descriptor).type == btrfsMagic,
        let opened = try? reopenFile(descriptor, flags: [.readOnly, .nonBlocking])
    else { return nil }
    defer { closeIgnoringErrors(opened) }
    return body(opened)
}

/// `BTRFS_SUPER_MAGIC` of linux/magic.h.
private let btrfsMagic: UInt32 = 0x9123_683E
