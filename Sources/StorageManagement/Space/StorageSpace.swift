import CLinux
import ResourceValues
import SystemCalls
import SystemPackage

/// What is left of everything that can run short on a volume.
public struct StorageSpace: Sendable, Hashable {
    /// The volume's bytes, as an ordinary user may use them; nil where the filesystem counts none
    /// (proc, sysfs).
    public var bytes: StorageAmount?
    /// The volume's inodes, as an ordinary user may use them (`f_favail`); nil where the filesystem
    /// makes as many as are wanted (btrfs).
    public var inodes: StorageAmount?
    /// The quotas of this process's user and group, in bytes and in inodes; empty where none is in
    /// force, none can be asked for, or this process is root's, whom none holds.
    public var quotas: [Quota] = []

    /// What a quota leaves.
    public struct Quota: Sendable, Hashable {
        /// The bytes; nil where they have no limit.
        public var bytes: StorageAmount?
        /// The inodes; nil where they have no limit.
        public var inodes: StorageAmount?

        /// Creates a quota from its parts.
        public init(bytes: StorageAmount? = nil, inodes: StorageAmount? = nil) {
            self.bytes = bytes
            self.inodes = inodes
        }
    }

    /// Creates a space from its parts.
    public init(
        bytes: StorageAmount? = nil, inodes: StorageAmount? = nil, quotas: [Quota] = []
    ) {
        self.bytes = bytes
        self.inodes = inodes
        self.quotas = quotas
    }

    /// Asks for the space on the volume that holds an item: `fstatvfs(3)`, and `quotactl_fd(2)` for
    /// the quotas of this process's user and group.
    ///
    /// Quotas that the kernel does not tell by this call are not seen: those of btrfs subvolumes, of
    /// projects, and of network filesystems.
    ///
    /// - Throws: `FileError`, as for opening the item only to refer to it (`O_PATH`).
    public init(at path: FilePath) throws(FileError) {
        do throws(Errno) {
            let file = OwnedDescriptor(try openReference(to: path))
            self.init(
                try filesystemStatus(ofOpen: file.descriptor),
                quotas: enforcedQuotas(on: file.descriptor))
        } catch {
            throw .readingStatus(error, of: path)
        }
    }

    init(_ status: FilesystemStatus, quotas: [Quota]) {
        bytes = VolumeCapacity(status).map {
            StorageAmount(total: $0.total, available: $0.available)
        }
        if status.files > 0 {
            inodes = StorageAmount(
                total: Int64(clamping: status.files),
                available: Int64(clamping: status.availableFiles))
        }
        self.quotas = quotas
    }

    /// All amounts of bytes: the volume's, and what quotas leave of it.
    package var byteAmounts: [StorageAmount] {
        [bytes].compactMap(\.self) + quotas.compactMap(\.bytes)
    }

    /// All amounts of inodes.
    package var inodeAmounts: [StorageAmount] {
        [inodes].compactMap(\.self) + quotas.compactMap(\.inodes)
    }
}

extension StorageSpace.Quota {
    /// What usage leaves; nil where nothing has a limit. A limit that may be exceeded for a while
    /// counts where there is no other.
    init?(_ usage: QuotaUsage) {
        bytes = amount(usage.byteLimit, soft: usage.softByteLimit, used: usage.usedBytes)
        inodes = amount(usage.fileLimit, soft: usage.softFileLimit, used: usage.usedFiles)
        if bytes == nil, inodes == nil { return nil }
    }
}

private func amount(_ limit: UInt64, soft: UInt64, used: UInt64) -> StorageAmount? {
    let limit = limit > 0 ? limit : soft
    guard limit > 0 else { return nil }
    return StorageAmount(
        total: Int64(clamping: limit), available: Int64(clamping: limit - min(used, limit)))
}

private func enforcedQuotas(on descriptor: FileDescriptor) -> [StorageSpace.Quota] {
    let user = effectiveUser()
    guard user != 0 else { return [] }
    let holders: [QuotaHolder] = [.user(user), .group(effectiveGroup())]
    return holders.compactMap { holder in
        do throws(Errno) {
            return StorageSpace.Quota(try quotaUsage(of: holder, on: descriptor))
        } catch {
            // No quota, or no way to ask for one: space is told all the same.
            return nil
        }
    }
}
