import SystemCalls

/// The identity of a file that survives a remount, after which its filesystem may have another
/// device number, and another filesystem may have the old one.
package struct PersistentIdentity: Sendable, Hashable {
    package enum Filesystem: Sendable, Hashable {
        /// The filesystem's name: `UUID=…`, or else the source of its mount.
        case named([UInt8])
        /// The device number: all that is known where `/proc` is not mounted.
        case device(UInt64)
    }

    package let filesystem: Filesystem
    package let inode: UInt64
    /// The creation time; nil where the filesystem does not store it.
    package let creationTime: FileTime?

    package init(filesystem: Filesystem, inode: UInt64, creationTime: FileTime?) {
        self.filesystem = filesystem
        self.inode = inode
        self.creationTime = creationTime
    }

    /// Creates the identity of a file of which no more is known.
    package init(_ identity: FileIdentity) {
        self.init(
            filesystem: .device(identity.device), inode: identity.inode, creationTime: nil)
    }
}

extension PersistentIdentity {
    /// Takes an identity from JSON, of which the inode was taken before; nil for an invalid one.
    package init?(inode: UInt64, _ fields: inout JSONFields) {
        var born: FileTime?
        if let seconds: Int64 = fields.number("born") {
            guard let nanoseconds: UInt32 = fields.number("bornNanoseconds"),
                nanoseconds < 1_000_000_000
            else { return nil }
            born = FileTime(seconds: seconds, nanoseconds: nanoseconds)
        }
        let filesystem: Filesystem
        if let device: UInt64 = fields.number("device") {
            filesystem = .device(device)
        } else {
            guard case let name?? = fields.bytes("filesystem") else { return nil }
            filesystem = .named(name)
        }
        self.init(filesystem: filesystem, inode: inode, creationTime: born)
    }
}

extension JSONLine {
    package mutating func add(_ identity: PersistentIdentity) {
        switch identity.filesystem {
        case .device(let device): add("device", device)
        case .named(let name): add("filesystem", "filesystemBase64", name)
        }
        add("inode", identity.inode)
        if let time = identity.creationTime {
            add("born", time.seconds)
            add("bornNanoseconds", time.nanoseconds)
        }
    }
}

/// Identifies the filesystems of files, each mount once.
///
/// Use a table for one run only: the ID of an unmounted filesystem may be reused.
package final class MountedFilesystems: Sendable {
    private struct Mounted: Hashable {
        let mount: Int
        let device: UInt64
    }

    private let known = Monitor<[Mounted: PersistentIdentity.Filesystem]>([:])

    package init() {}

    package func identity(of status: FileStatus) -> PersistentIdentity {
        PersistentIdentity(
            filesystem: filesystem(of: status), inode: status.identity.inode,
            creationTime: status.creationTime)
    }

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
    /// The filesystem's name, which does not depend on its device number: `UUID=…`, or else the
    /// source of the mount; nil where neither is known.
    fileprivate var persistentName: [UInt8]? {
        if let uuid { return Array("UUID=\(uuid)".utf8) }
        return mount.source.isEmpty ? nil : mount.source
    }
}
