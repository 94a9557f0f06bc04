import SystemCalls
import SystemPackage

/// One mounted filesystem, as described by a line of `/proc/self/mountinfo` (proc(5)).
public struct Mount: Sendable, Hashable {
    /// The mount ID.
    public let number: Int
    /// The mount ID of the parent mount.
    public let parent: Int
    /// The device number of the files on it, as in ``FileIdentity/device``.
    public let device: UInt64
    /// The directory of the filesystem that appears at ``mountPoint``; not `/` for bind mounts and
    /// subvolumes.
    public let root: FilePath
    /// The mount point, relative to this process's root.
    public let mountPoint: FilePath
    /// The filesystem's type, such as `ext4` or `fuse.sshfs`.
    public let filesystemType: String
    /// The mount source: the path of a device, or a string the filesystem defines.
    public let source: [UInt8]
    /// Whether this mount or its filesystem is read-only.
    public let isReadOnly: Bool
    /// Whether reading a file leaves its access time (`noatime`).
    package var leavesAccessTimes = false
    /// Whether reading a file may leave its access time for a day (`relatime`).
    package var delaysAccessTimes = false
    /// The directories that an overlay shows, as named in its mount options `upperdir`, `lowerdir`
    /// and `datadir+`. Empty for other types.
    package let layers: [FilePath]
    /// The directory in which an overlay prepares changes, as named in its mount option `workdir`.
    package let workDirectories: [FilePath]
}

extension Mount {
    /// The kind of storage behind a filesystem, which decides whether a backup descends into it.
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// Files stored on this machine.
        case local
        /// A view of kernel data instead of files: proc, sysfs, cgroup and others.
        case pseudo
        /// Files stored on another machine.
        case network
        /// Files served by a program (FUSE).
        case fuse
        /// A type missing from the tables, and no block device.
        case unknown

        /// A description of the category, as the reason for excluding a mount.
        public var meaning: String {
            switch self {
            case .local: "a local filesystem"
            case .pseudo: "a kernel filesystem, without files of its own"
            case .network: "a network filesystem"
            case .fuse: "a FUSE filesystem"
            case .unknown: "a filesystem of unknown type without a block device"
            }
        }
    }

    /// The kind of storage. An unknown type on a block device is local: when in doubt, a file is
    /// backed up.
    public var category: Category {
        if filesystemType == "fuse" || filesystemType == "fuseblk"
            || filesystemType.hasPrefix("fuse.")
        {
            return .fuse
        }
        if localTypes.contains(filesystemType) { return .local }
        if pseudoTypes.contains(filesystemType) { return .pseudo }
        if networkTypes.contains(filesystemType) { return .network }
        // Filesystems without a block device have device numbers with the major number 0.
        return deviceMajor(device) != 0 ? .local : .unknown
    }

    /// Whether it is a file that keeps a mount namespace: `unshare --mount=FILE` mounts one.
    package var isMountNamespace: Bool {
        filesystemType == "nsfs" && root.bytes.starts(with: "mnt:[".utf8)
    }

    /// Whether it is a removable medium: mounted below `/media` or `/run/media`, or on a drive whose medium
    /// can be removed.
    package var isRemovable: Bool {
        if ["/media", "/run/media"].contains(where: {
            mountPoint != FilePath($0) && mountPoint.isHeld(by: FilePath($0))
        }) {
            return true
        }
        let devices = BlockDevices()
        let names = devices.names(beneath: self)
        return !names.isEmpty && names.allSatisfy { devices.isRemovable($0) == true }
    }

    /// Whether its files are served by another machine or by a program, which may stop responding.
    package var isRemote: Bool { category == .network || category == .fuse }
}

private let localTypes: Set<String> = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "msdos", "exfat", "ntfs", "ntfs3",
    "zfs", "bcachefs", "overlay", "aufs", "tmpfs", "ramfs", "jfs", "reiserfs", "nilfs2", "hfs",
    "hfsplus", "apfs", "ufs", "minix", "udf", "iso9660", "squashfs", "erofs", "cramfs", "ubifs",
    "jffs2", "ecryptfs",
]

private let pseudoTypes: Set<String> = [
    "proc", "sysfs", "cgroup", "cgroup2", "devpts", "devtmpfs", "mqueue", "hugetlbfs", "debugfs",
    "tracefs", "securityfs", "selinuxfs", "smackfs", "apparmorfs", "pstore", "bpf", "configfs",
    "fusectl", "binfmt_misc", "efivarfs", "rpc_pipefs", "nfsd", "autofs", "nsfs", "binder",
    "binderfs", "resctrl", "functionfs", "ipathfs", "oprofilefs", "xenfs", "sockfs", "pipefs",
    "cpuset", "bdev", "anon_inodefs", "usbfs", "usbdevfs",
]

private let networkTypes: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "ceph", "9p", "virtiofs",
    "lustre", "orangefs", "pvfs2", "beegfs", "gpfs", "glusterfs", "vboxsf", "vmhgfs", "prl_fs",
    "davfs", "ocfs2", "gfs2",
]

/// The filesystems mounted in this process's view.
public struct MountTable: Sendable, Hashable {
    /// The mounts, in the kernel's order.
    public let mounts: [Mount]
    /// The mount points of network and FUSE filesystems, except `/` and those above local
    /// filesystems, which cannot be avoided.
    package private(set) var remoteMountPoints: Set<FilePath> = []
    private let children: [Int: [Int]]

    /// Parses the contents of a file in the format of `/proc/self/mountinfo`. Ignores lines that
    /// are not in this format, and mounts whose directory was removed.
    public init(mountinfo: [UInt8]) {
        mounts = mountinfo.split(separator: UInt8(ascii: "\n")).compactMap { Mount(line: $0) }
        children = Dictionary(grouping: mounts.indices) { [mounts] in mounts[$0].parent }
        let points = mounts.filter(\.isRemote).map(\.mountPoint).filter { point in
            point != "/" && mount(holding: point)?.isRemote == true
                && !mounts.contains { $0.category == .local && $0.mountPoint.isHeld(by: point) }
        }
        remoteMountPoints = Set(points)
    }

    /// Reads `/proc/self/mountinfo`.
    ///
    /// - Throws: ``FileError`` when it cannot be opened or read, for example where `/proc` is not
    ///   mounted.
    public static func current() throws(FileError) -> MountTable {
        MountTable(mountinfo: try contentsOfFile("/proc/self/mountinfo"))
    }

    /// Returns the mount that contains a path; nil when the table does not say.
    ///
    /// - Parameter path: a real path.
    public func mount(holding path: FilePath) -> Mount? {
        let numbers = Set(mounts.map(\.number))
        let tops = mounts.indices.filter { !numbers.contains(mounts[$0].parent) }
        // In a chroot that is not a mount point, the table does not say which mount `/` is on.
        let nearest = tops.filter { path.isHeld(by: mounts[$0].mountPoint) }
            .min { mounts[$0].mountPoint.length < mounts[$1].mountPoint.length }
        guard var current = tops.first(where: { mounts[$0].mountPoint == "/" }) ?? nearest
        else { return nil }
        // A lookup crosses mount points in order, the nearest to `/` first. Each step crosses one
        // mount; the bound only ends the search when the table has a cycle.
        for _ in mounts {
            guard let next = nextMount(from: current, towards: path) else { break }
            current = next
        }
        return mounts[current]
    }

    /// Returns the mount with a mount ID, as reported by `statx(2)`; nil when the table has none.
    func mount(numbered number: Int) -> Mount? { mounts.first { $0.number == number } }

    /// Whether accessing a path may block forever, waiting for a server or for a program behind a
    /// FUSE mount.
    ///
    /// - Parameter path: a real path.
    package func isRemote(_ path: FilePath) -> Bool {
        remoteMountPoints.contains { path.isHeld(by: $0) }
    }

    private func nextMount(from current: Int, towards path: FilePath) -> Int? {
        children[mounts[current].number, default: []]
            .filter { $0 != current && path.isHeld(by: mounts[$0].mountPoint) }
            .min { mounts[$0].mountPoint.length < mounts[$1].mountPoint.length }
    }
}

/// Returns the mount points in the contents of a file in the format of fstab(5), whether anything is
/// mounted there or not.
package func mountPoints(inFstab contents: [UInt8]) -> [FilePath] {
    contents.split(separator: UInt8(ascii: "\n")).compactMap { line in
        let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard fields.count >= 3, fields[0].first != UInt8(ascii: "#"),
            fields[1].first == UInt8(ascii: "/")
        else { return nil }
        return FilePath(bytes: unescaped(fields[1]))
    }
}

extension Mount {
    /// Finds a mount by its ID, as reported by `statx(2)`, in the contents of
    /// `/proc/self/mountinfo`. Other lines are not parsed.
    init?(numbered number: Int, in mountinfo: [UInt8]) {
        let start = Array("\(number) ".utf8)
        let line = mountinfo.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: start) }
        guard let line else { return nil }
        self.init(line: line)
    }

    /// Parses a line; nil when it is not in the format of mountinfo.
    fileprivate init?(line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count >= 9,
            let hyphen = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
            fields.count > hyphen + 2,
            let number = Int(text(fields[0])), let parent = Int(text(fields[1])),
            let device = deviceNumber(fields[2])
        else { return nil }
        let mountPoint = unescaped(fields[4])
        guard !mountPoint.suffix(9).elementsEqual("//deleted".utf8) else { return nil }
        let options = [fields[5]] + fields[(hyphen + 3)...].prefix(1)
        let isOverlay = fields[hyphen + 1].elementsEqual("overlay".utf8)
        let overlayOptions = isOverlay ? options.last ?? [] : []
        self.init(
            number: number, parent: parent, device: device,
            root: FilePath(bytes: unescaped(fields[3])), mountPoint: FilePath(bytes: mountPoint),
            filesystemType: text(unescaped(fields[hyphen + 1])[...]),
            source: unescaped(fields[hyphen + 2]),
            isReadOnly: options.contains { contains("ro", $0) },
            leavesAccessTimes: contains("noatime", fields[5]),
            delaysAccessTimes: contains("relatime", fields[5]),
            layers: directories(
                in: ["upperdir", "lowerdir", "lowerdir+", "datadir+"], of: overlayOptions),
            workDirectories: directories(in: ["workdir"], of: overlayOptions))
    }
}

private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

private func contains(_ option: String, _ options: ArraySlice<UInt8>) -> Bool {
    options.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(option.utf8) }
}

/// Returns the directories in some options of an overlay. Only in `lowerdir` a colon separates two,
/// unless the kernel or a backslash escapes it. A backslash may be part of a name, so each is
/// returned both with its backslashes and without.
private func directories(in names: Set<String>, of options: ArraySlice<UInt8>) -> [FilePath] {
    let colon = UInt8(ascii: ":")
    let found = options.split(separator: UInt8(ascii: ",")).flatMap { option -> [[UInt8]] in
        guard let equals = option.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        let name = text(option[..<equals])
        guard names.contains(name) else { return [] }
        let value = option[(equals + 1)...]
        guard name == "lowerdir" else { return [unescaped(value)] }
        let parts = value.split(separator: colon, omittingEmptySubsequences: false)
        return parts.map { unescaped($0) }.reduce(into: []) { found, part in
            if let last = found.last, withoutBackslashes(last).isEscaped {
                found[found.count - 1] += [colon] + part
            } else {
                found.append(part)
            }
        }
    }
    let all = Set(found + found.map { withoutBackslashes($0).bytes })
    return all.filter { !$0.isEmpty }.map { FilePath(bytes: $0) }
}

/// Removes the backslashes that escape the byte after them, and says whether the last byte is one.
private func withoutBackslashes(_ bytes: [UInt8]) -> (bytes: [UInt8], isEscaped: Bool) {
    var isEscaped = false
    let rest = bytes.filter { byte in
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        return !isEscaped
    }
    return (rest, isEscaped)
}

private func deviceNumber(_ field: ArraySlice<UInt8>) -> UInt64? {
    let numbers = field.split(separator: UInt8(ascii: ":")).map { UInt32(text($0)) }
    guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
    return SystemCalls.deviceNumber(major: major, minor: minor)
}

/// Undoes the kernel's escapes: a backslash and three octal digits represent a byte.
private func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
        let digits = rest.prefix(3)
        guard byte == UInt8(ascii: "\\"), digits.count == 3,
            let value = UInt8(text(digits), radix: 8)
        else {
            bytes.append(byte)
            continue
        }
        bytes.append(value)
        rest.removeFirst(3)
    }
    return bytes
}

/// A part of a filesystem, identified by device and by path within it, the same through every
/// mount.
package struct FilesystemPart: Sendable, Hashable {
    private let device: UInt64
    private let path: FilePath

    /// Creates the part at a path; nil when the table does not contain the path's mount.
    ///
    /// - Parameter real: a real path, as seen by the process whose mount table this is.
    package init?(_ real: FilePath, in mounts: MountTable) {
        guard let mount = mounts.mount(holding: real) else { return nil }
        self.init(real, on: mount)
    }

    package init(of mount: Mount) {
        device = mount.device
        path = mount.root
    }

    /// Creates the part that a mount covers; nil when that is not visible in the table.
    package init?(beneath mount: Mount, in mounts: MountTable) {
        guard let parent = mounts.mount(numbered: mount.parent), parent != mount,
            mount.mountPoint.isHeld(by: parent.mountPoint)
        else { return nil }
        self.init(mount.mountPoint, on: parent)
    }

    private init(_ path: FilePath, on mount: Mount) {
        device = mount.device
        let below = path.components.dropFirst(mount.mountPoint.components.count)
        self.path = mount.root.appending(below)
    }

    package func isIn(_ other: FilesystemPart) -> Bool {
        device == other.device && path.isHeld(by: other.path)
    }

    /// Returns the paths that lead to the part, as seen by the process whose mount table this is.
    package func paths(in mounts: MountTable) -> [FilePath] {
        mounts.mounts.filter { $0.device == device && path.isHeld(by: $0.root) }.map { mount in
            mount.mountPoint.appending(path.components.dropFirst(mount.root.components.count))
        }
    }
}
