import SystemCalls

/// What a file is also after it is mounted anew, when its device may have another number, and another
/// filesystem its number.
package struct PersistentIdentity: Sendable, Hashable {
    /// The filesystem a file lies on.
    package enum Filesystem: Sendable, Hashable {
        /// What tells it from others: `UUID=…`, else the source of its mount.
        case named([UInt8])
        /// The number of its device: what records of old versions have, and all that is known where
        /// `/proc` is not mounted.
        case device(UInt64)
    }

    /// The filesystem.
    package let filesystem: Filesystem
    /// The inode number.
    package let inode: UInt64
    /// When the file was made; nil where the filesystem does not keep it, and in records of old versions.
    package let creationTime: FileTime?

    /// Creates an identity from its parts.
    package init(filesystem: Filesystem, inode: UInt64, creationTime: FileTime?) {
        self.filesystem = filesystem
        self.inode = inode
        self.creationTime = creationTime
    }

    /// The identity that a record of an old version has.
    package init(_ identity: FileIdentity) {
        self.init(
            filesystem: .device(identity.device), inode: identity.inode, creationTime: nil)
    }
}

/// Finds out which filesystems files lie on, each mount once.
///
/// Live for one run: a mount that is gone may leave its number to another.
package final class MountedFilesystems: Sendable {
    private struct Mounted: Hashable {
        let mount: Int
        let device: UInt64
    }

    private let known = Monitor<[Mounted: PersistentIdentity.Filesystem]>([:])

    /// Creates a table without entries.
    package init() {}

    /// What a file is, by its status.
    package func identity(of status: FileStatus) -> PersistentIdentity {
        PersistentIdentity(
            filesystem: filesystem(of: status), inode: status.identity.inode,
            creationTime: status.creationTime)
    }

    /// Whether a recorded identity is that of a file.
    package func isIdentity(_ recorded: PersistentIdentity, of status: FileStatus) -> Bool {
        guard recorded.inode == status.identity.inode,
            recorded.creationTime == nil || recorded.creationTime == status.creationTime
        else { return false }
        if case .device(let device) = recorded.filesystem {
            return device == status.identity.device
        }
        return recorded.filesystem == filesystem(of: status)
    }

    private func filesystem(of status: FileStatus) -> PersistentIdentity.Filesystem {
        let device = status.identity.device
        guard let mount = status.mountNumber else { return .device(device) }
        let mounted = Mounted(mount: mount, device: device)
        if let known = known.withLock({ $0[mounted] }) { return known }
        let found = Volume(holding: status)?.persistentName.map {
            PersistentIdentity.Filesystem.named($0)
        }
        known.withLock { $0[mounted] = found }
        return found ?? .device(device)
    }
}

extension Volume {
    /// What tells the filesystem from others whatever its device's number: `UUID=…`, else the source of
    /// the mount; nil where neither is known.
    fileprivate var persistentName: [UInt8]? {
        if let uuid { return Array("UUID=\(uuid)".utf8) }
        return mount.source.isEmpty ? nil : mount.source
    }
}
