import ResourceValues
import SystemCalls
import SystemPackage

/// The mounted filesystem that contains a file, and its properties.
///
/// A property that cannot be determined is nil, whatever the cause.
package struct Volume: Sendable {
    /// The mount the file was reached through.
    package let mount: Mount
    /// Whether it was mounted by an automounter: the parent mount was an autofs with the same mount
    /// point.
    package let isAutomounted: Bool
    private let devices = BlockDevices()
    /// What is known of its devices, in all copies of this value.
    private let answers = Monitor<[DeviceQuestion: Bool?]>([:])

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
        let parent = Mount(numbered: mount.parent, in: mountinfo)
        isAutomounted =
            parent?.filesystemType == "autofs" && parent?.mountPoint == mount.mountPoint
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
    package var isEncrypted: Bool? { answer(.isEncrypted) }

    /// Whether the media of all its drives can be removed; nil when it has no block device, or when
    /// unknown.
    package var isRemovable: Bool? { answer(.isRemovable) }

    /// Whether all its drives can eject their media; nil when it has no block device, or when
    /// unknown.
    package var isEjectable: Bool? { answer(.isEjectable) }

    /// Whether all its drives are on buses inside the machine; nil when it has no drives of its
    /// own, or when unknown.
    package var isInternal: Bool? { answer(.isInternal) }

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

    /// The creation time of the filesystem's root directory; nil where only a part of the
    /// filesystem is mounted.
    package var creationTime: FileTime? {
        guard mount.root == "/" else { return nil }
        let status = try? mount.mountPoint.status()
        return status?.mountNumber == mount.number ? status?.creationTime : nil
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
        let names = devices.names(beneath: mount)
        let links = DiskLinks(directory)
        for name in names {
            if let link = links.name(of: name) { return link }
        }
        return nil
    }

    private func answer(_ question: DeviceQuestion) -> Bool? {
        if let known = answers.withLock({ $0[question] }) { return known }
        let names = devices.names(beneath: mount)
        let answer = common(names.map { question.ask(devices, $0) })
        // Those of devices that consist of others change with these.
        if !names.isEmpty, names.allSatisfy({ devices.isDrive($0) }) {
            answers.withLock { $0[question] = answer }
        }
        return answer
    }
}

/// Returns the answer that all devices agree on: false when one answers false, nil when one is unknown or
/// there are none.
private func common(_ answers: [Bool?]) -> Bool? {
    if answers.isEmpty { return nil }
    if answers.contains(false) { return false }
    return answers.contains(nil) ? nil : true
}

/// A question about the devices beneath a filesystem.
private enum DeviceQuestion {
    case isEncrypted, isRemovable, isEjectable, isInternal

    func ask(_ devices: BlockDevices, _ name: String) -> Bool? {
        switch self {
        case .isEncrypted: devices.isEncrypted(name)
        case .isRemovable: devices.isRemovable(name)
        case .isEjectable: devices.isEjectable(name)
        case .isInternal: devices.isInternal(name)
        }
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
