import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// How much of something there is, and how much of it is left: bytes or inodes.
public struct StorageAmount: Sendable, Hashable {
    /// All of it, used or not.
    public let total: Int64
    /// What may still be used; from 0 to ``total``.
    public let available: Int64

    /// Creates an amount; what is out of range is cut to it.
    public init(total: Int64, available: Int64) {
        self.total = max(0, total)
        self.available = min(max(0, available), self.total)
    }

    /// The amount when so much more were available.
    func adding(_ freed: Int64) -> StorageAmount {
        StorageAmount(total: total, available: available.addingSaturating(max(0, freed)))
    }
}

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

/// Why something is saved.
public enum StorageUse: Sendable, Hashable, CaseIterable {
    /// Somebody asked for it, or it cannot be had again. Purging makes room for it.
    case important
    /// Nobody asked for it yet, such as what is fetched in advance. It leaves a reserve.
    case opportunistic
}

/// The volume that holds an item: how much is left there, and whether something may be saved.
public struct StorageVolume: Sendable, Hashable {
    /// The item by which the volume was named.
    public let path: FilePath
    /// What stays free of opportunistic use, in bytes; nil for a tenth of the volume, at most 5 GiB.
    public var reserve: Int64?

    /// The volume that holds an item.
    public init(holding path: FilePath) { self.path = path }

    /// Asks how much is left: `fstatvfs(3)`, `quotactl_fd(2)`.
    ///
    /// - Throws: `FileError` when the item cannot be reached.
    public func space() throws(FileError) -> StorageSpace { try StorageSpace(at: path) }

    /// The capacity by use: what is available, and the newest purge plan recorded by `resval-purge`
    /// for this volume, where there is one that is at most an hour old.
    ///
    /// - Returns: nil where the filesystem counts no blocks (proc, sysfs).
    /// - Throws: `FileError` when the item cannot be reached.
    public func capacity() throws(FileError) -> UsageCapacity? {
        try UsageCapacity(at: path, reserve: reserve)
    }

    /// Whether something may be saved.
    ///
    /// It fits when it is within the volume's capacity for the use and within every quota of this
    /// process's user and group. Others may take the room before it is used, and a purge may free
    /// less than was planned: `ENOSPC` still has to be handled.
    ///
    /// - Parameters:
    ///   - bytes: its size.
    ///   - use: why it is saved.
    /// - Returns: false also where the filesystem counts no blocks, or an inode cannot be had.
    /// - Throws: `FileError` when the item cannot be reached.
    public func fits(_ bytes: Int64, for use: StorageUse) throws(FileError) -> Bool {
        guard let capacity = try capacity() else { return false }
        return capacity.fits(bytes, for: use, in: try space())
    }
}

extension UsageCapacity {
    /// Whether something fits, by a space that was measured at the same time.
    package func fits(_ bytes: Int64, for use: StorageUse, in space: StorageSpace) -> Bool {
        let freed = use == .important ? important - available : 0
        let room = use == .important ? important : opportunistic
        return bytes <= room && space.inodeAmounts.allSatisfy { $0.available > 0 }
            && space.quotas.allSatisfy { quota in
                quota.bytes.map { $0.adding(freed).available >= bytes } ?? true
            }
    }
}
