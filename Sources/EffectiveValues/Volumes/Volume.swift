import ResourceValues
import SystemCalls
import SystemPackage

/// The mounted filesystem that holds a file, and what can be found out about it.
///
/// What cannot be found out is nil, whatever the cause.
package struct Volume: Sendable {
    /// The mount the file was reached through.
    package let mount: Mount
    /// What its type can do; nil for types not known well enough.
    package let features: FilesystemFeatures?
    private let table: MountTable
    private let devices = BlockDevices()

    /// Finds the volume of a file by the mount its status names.
    ///
    /// - Returns: nil where `/proc` is not mounted, and before Linux 5.8.
    package init?(holding status: FileStatus) {
        guard let number = status.mountNumber, let table = try? MountTable.current(),
            let mount = table.mount(numbered: number)
        else { return nil }
        self.mount = mount
        self.table = table
        features = FilesystemFeatures.of(type: mount.filesystemType)
    }

    /// The filesystem's label; nil when it has none.
    package var label: [UInt8]? {
        let label = withRoot { try? filesystemLabel(of: $0) } ?? linkName("/dev/disk/by-label")
        return label?.isEmpty == false ? label : nil
    }

    /// The filesystem's UUID, in small letters, or what stands for one.
    package var uuid: String? {
        if let bytes = withRoot({ try? filesystemUUID(of: $0) }) { return uuidText(bytes) }
        return linkName("/dev/disk/by-uuid").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether an automounter mounted it: autofs lies beneath at the same place.
    package var isAutomounted: Bool {
        table.mount(numbered: mount.parent).map {
            $0.filesystemType == "autofs" && $0.mountPoint == mount.mountPoint
        } ?? false
    }

    /// Whether the files are on this machine; nil where the type does not tell.
    package var isLocal: Bool? {
        switch mount.category {
        case .local, .pseudo: true
        case .network: false
        case .fuse: mount.filesystemType == "fuseblk" ? true : nil
        case .unknown: nil
        }
    }

    /// Whether dm-crypt lies beneath all of it; nil when it lies on no block device.
    package var isEncrypted: Bool? { all { devices.isEncrypted($0) } }

    /// Whether the media of all its drives can be taken out; nil when it lies on no block device.
    package var isRemovable: Bool? { all { devices.isRemovable($0) } }

    /// Whether all its drives can eject their media; nil when it lies on no block device.
    package var isEjectable: Bool? { all { devices.isEjectable($0) } }

    /// Whether all its drives are on buses inside the machine; nil when it has no drives of its own.
    package var isInternal: Bool? { all { devices.isInternal($0) } }

    /// Whether a journal is in use; nil for types where that is not known.
    package var isJournaling: Bool? {
        switch mount.filesystemType {
        case "ext4", "ext3": all { devices.hasJournal(ext4: $0) }
        case "xfs": true
        case "btrfs", "tmpfs": false
        default: nil
        }
    }

    /// Whether files can be cloned.
    package var canClone: Bool? {
        guard mount.filesystemType == "xfs" else { return features?.contains(.cloning) }
        return withRoot { try? xfsSharesExtents(of: $0) }
    }

    /// Whether an extended attribute could be stored on its root directory.
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

    /// When the root directory of the filesystem was made; nil where only a part of the filesystem is
    /// mounted.
    package var creationTime: FileTime? {
        guard mount.root == "/" else { return nil }
        let status = try? mount.mountPoint.status()
        return status?.mountNumber == mount.number ? status?.creationTime : nil
    }

    /// Calls `body` with the open mount point; nil where it may not be read, or another filesystem is
    /// mounted over it.
    private func withRoot<Result>(_ body: (FileDescriptor) -> Result?) -> Result? {
        guard let root = try? openForReading(mount.mountPoint) else { return nil }
        // Nothing was written: closing cannot lose data.
        defer { closeQuietly(root) }
        guard (try? root.status())?.mountNumber == mount.number else { return nil }
        return body(root)
    }

    private func linkName(_ directory: FilePath) -> [UInt8]? {
        let names = devices.names(beneath: mount)
        let links = DiskLinks(directory)
        for name in names {
            if let link = links.name(of: name) { return link }
        }
        return nil
    }

    /// The answer that all devices beneath agree on: false when one says so, nil when one does not tell.
    private func all(_ ask: (String) -> Bool?) -> Bool? {
        let answers = devices.names(beneath: mount).map(ask)
        if answers.isEmpty { return nil }
        if answers.contains(false) { return false }
        return answers.contains(nil) ? nil : true
    }
}

private func uuidText(_ bytes: [UInt8]) -> String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
        if [4, 6, 8, 10].contains(index) { text += "-" }
        text += byte < 16 ? "0" : ""
        text += String(byte, radix: 16)
    }
    return text
}
