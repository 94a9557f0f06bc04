import ResourceValues
import SystemCalls
import SystemPackage

/// The mounted filesystem that contains a file, and its properties.
///
/// A property that cannot be determined is nil, whatever the cause.
package struct Volume: Sendable {
    /// The mount the file was reached through.
    package let mount: Mount
    private let devices = BlockDevices()
    /// What is known of its devices, in all copies of this value.
    private let known = Monitor<DeviceFacts?>(nil)

    /// Finds the volume of a file by the mount ID in its status: `/proc/self/mountinfo`.
    ///
    /// IDs of mounts are used again: keep the file open where the answer must not be that of a mount
    /// that took the place of the file's.
    ///
    /// - Returns: nil where `/proc` is not mounted, before Linux 5.8, and when the mount is not in
    ///   the table.
    package init?(holding status: FileStatus) {
        guard let number = status.mountNumber,
            let mountinfo = try? contentsOfFile("/proc/thread-self/mountinfo"),
            let mount = Mount(numbered: number, in: mountinfo)
        else { return nil }
        self.mount = mount
    }

    /// The filesystem's label; nil when it has none.
    package var label: [UInt8]? {
        let label = withRoot { try? filesystemLabel(of: $0) } ?? linkName("/dev/disk/by-label")
        return label?.isEmpty == false ? label : nil
    }

    /// The filesystem's UUID in lowercase, or the ID that udev uses instead.
    package var uuid: String? {
        if let bytes = withRoot({ try? filesystemUUID(of: $0) }) { return uuidText(bytes) }
        return linkName("/dev/disk/by-uuid").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the files are on this machine; nil where the type does not determine it.
    package var isLocal: Bool? {
        switch mount.category {
        case .local, .pseudo: true
        case .network: false
        case .fuse: mount.filesystemType == "fuseblk" ? true : nil
        case .unknown: nil
        }
    }

    /// Whether dm-crypt encrypts all of its devices; nil when it has no block device, or when
    /// unknown.
    package var isEncrypted: Bool? { deviceFacts.areEncrypted }

    /// Whether the media of all its drives can be removed; nil when it has no block device, or when
    /// unknown.
    package var isRemovable: Bool? { deviceFacts.areRemovable }

    /// Whether files can be cloned (`FICLONE`); xfs is asked, as it depends on how the volume was made. nil
    /// for types not known well enough.
    package var canClone: Bool? {
        switch mount.filesystemType {
        case "btrfs": true
        case "ext3", "ext4", "tmpfs": false
        case "xfs": withRoot { try? xfsSharesExtents(of: $0) }
        default: nil
        }
    }

    /// Whether extended attributes of this name are supported on its root directory; nil when
    /// unknown.
    package func canStore(_ attribute: ExtendedAttributeName) -> Bool? {
        withRoot { root in
            do throws(FileError) {
                _ = try root.extendedAttribute(named: attribute)
                return true
            } catch {
                return error.errno == .notSupported ? false : nil
            }
        }
    }

    /// Calls `body` with the open mount point; nil where it cannot be opened, or another filesystem
    /// is mounted over it.
    private func withRoot<Result>(_ body: (FileDescriptor) -> Result?) -> Result? {
        guard let root = try? openForReading(mount.mountPoint) else { return nil }
        // Nothing was written, so closing cannot lose data.
        defer { closeIgnoringErrors(root) }
        guard (try? root.status())?.mountNumber == mount.number else { return nil }
        return body(root)
    }

    private func linkName(_ directory: FilePath) -> [UInt8]? {
        devices.names(beneath: mount).lazy.compactMap { diskLink(to: $0, in: directory) }.first
    }

    private typealias DeviceFacts = (areEncrypted: Bool?, areRemovable: Bool?)

    private var deviceFacts: DeviceFacts {
        if let facts = known.withLock({ $0 }) { return facts }
        let names = devices.names(beneath: mount)
        let facts = (
            common(names.map { devices.isEncrypted($0) }),
            common(names.map { devices.isRemovable($0) })
        )
        // Those of devices that consist of others change with these.
        if !names.isEmpty, names.allSatisfy({ devices.isDrive($0) }) {
            known.withLock { $0 = facts }
        }
        return facts
    }
}

/// Returns a UUID as text, in lowercase.
package func uuidText(_ bytes: [UInt8]) -> String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
        if [4, 6, 8, 10].contains(index) { text += "-" }
        text += byte < 16 ? "0" : ""
        text += String(byte, radix: 16)
    }
    return text
}

/// The volumes that this process has asked about, so that a fact about one needs no list of all
/// mounts.
///
/// A volume is known by the identity of its mount, which no other mount ever has, so another one is
/// never mistaken for it: not after it was unmounted, not in another namespace, and not in a child
/// process. Nothing has to be watched, and no descriptor is kept.
///
/// The mount point of a kept volume can have changed: it counts if it still leads to the root of the
/// mount, in the view of the calling thread. What else can change, the source and the options, is not
/// answered from here.
package enum KnownVolumes {
    /// Returns the volume of a file; nil where the mount cannot be determined.
    ///
    /// The source of its mount may be outdated; see ``volumeRead(holding:)``.
    package static func volume(holding file: borrowing some FileLocation & ~Copyable) -> Volume? {
        guard let identity = (try? file.mountIdentity()) ?? nil else {
            return volumeRead(holding: file)
        }
        if let kept = kept.withLock({ $0[identity.number] }), kept.isAtMountPoint(identity.number) {
            return kept
        }
        return withReference(to: file) { item in
            let volume = Volume(holding: item.status)
            // The devices of btrfs, which change while it is mounted, are found by its source.
            if let volume, let identity = item.mount, volume.mount.filesystemType != "btrfs" {
                keep(volume, identity.number)
            }
            return volume
        }
    }

    /// Returns the volume of a file from the list of mounts, which is read anew; nil as
    /// ``volume(holding:)``.
    package static func volumeRead(
        holding file: borrowing some FileLocation & ~Copyable
    ) -> Volume? {
        withReference(to: file) { Volume(holding: $0.status) }
    }

    private static func keep(_ volume: Volume, _ number: UInt64) {
        kept.withLock { volumes in
            if volumes.count >= mostVolumes { volumes = [:] }
            volumes[number] = volume
        }
    }

    private static let kept = Monitor<[UInt64: Volume]>([:])
    private static let mostVolumes = 500
}

extension Volume {
    fileprivate func isAtMountPoint(_ number: UInt64) -> Bool {
        guard let found = (try? mount.mountPoint.withoutFollowing.mountIdentity()) ?? nil
        else { return false }
        return found.number == number && found.isRoot
    }
}

/// Calls `body` with the status and the mount of a file while it is open, so that no other mount
/// gets the ID of its mount; nil where it cannot be reached.
private func withReference(
    to file: borrowing some FileLocation & ~Copyable,
    _ body: ((status: FileStatus, mount: MountIdentity?)) -> Volume?
) -> Volume? {
    guard let item = try? OwnedDescriptor(openReference(to: file)) else { return nil }
    // Open to the end, and not only until its last use.
    defer { withExtendedLifetime(item) {} }
    guard let status = try? item.descriptor.status() else { return nil }
    return body((status, (try? item.descriptor.mountIdentity()) ?? nil))
}
