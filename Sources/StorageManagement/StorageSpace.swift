import EffectiveValues
import ResourceValues
import SystemPackage

/// The total and available amount of a resource: bytes or inodes.
public struct StorageAmount: Sendable, Hashable {
    /// The whole amount, used or not.
    public let total: Int64
    /// The amount that may still be used; from 0 to ``total``.
    public let available: Int64

    /// Creates an amount, clamping values that are out of range.
    public init(total: Int64, available: Int64) {
        self.total = max(0, total)
        self.available = min(max(0, available), self.total)
    }

    func adding(_ freed: Int64) -> StorageAmount {
        StorageAmount(total: total, available: available.addingSaturating(max(0, freed)))
    }
}

/// The available amounts of everything that can run short on a volume.
public struct StorageSpace: Sendable, Hashable {
    /// The volume's bytes, as available to an ordinary user; nil where the filesystem does not
    /// count them (proc, sysfs).
    public var bytes: StorageAmount?
    /// The volume's inodes, as available to an ordinary user (`f_favail`); nil where the filesystem
    /// creates them on demand (btrfs).
    public var inodes: StorageAmount?
    /// The quotas of this process's user and group, in bytes and in inodes, except for root, to whom
    /// none applies, and of the btrfs subvolume; empty where none is in force or can be queried.
    public var quotas: [Quota] = []

    /// The amounts within a quota.
    public struct Quota: Sendable, Hashable {
        /// The bytes; nil where they are not limited.
        public var bytes: StorageAmount?
        /// The inodes; nil where they are not limited.
        public var inodes: StorageAmount?
        /// Whether what a purge of the volume frees counts for it. A subvolume may have none of that.
        package var isFreedByPurge = true

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

    /// Reads the space on the volume that contains an item: `fstatvfs(3)`, `quotactl_fd(2)` for
    /// the quotas of this process's user and group, and `/sys/fs/btrfs` for that of its subvolume.
    ///
    /// Quotas that the kernel does not report so are not included: those of groups of btrfs
    /// subvolumes, of projects, and of network filesystems.
    ///
    /// - Throws: `FileError`, as for opening the item with `O_PATH`.
    public init(at path: FilePath) throws(FileError) {
        self = try calls(on: path) { () throws(Errno) in
            let file = OwnedDescriptor(try openReference(to: path))
            return StorageSpace(
                try filesystemStatus(ofOpen: file.descriptor),
                quotas: enforcedQuotas(on: file.descriptor) + subvolumeQuotas(on: file.descriptor))
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

    /// All amounts of bytes: the volume's and those within quotas.
    package var byteAmounts: [StorageAmount] {
        [bytes].compactMap(\.self) + quotas.compactMap(\.bytes)
    }

    package var inodeAmounts: [StorageAmount] {
        [inodes].compactMap(\.self) + quotas.compactMap(\.inodes)
    }
}

extension StorageSpace.Quota {
    /// Creates a quota from its usage; nil where nothing is limited. A soft limit, which may be
    /// exceeded for a while, counts only where there is no hard limit.
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
        // Without a quota, or a way to query it, the space is reported without it.
        (try? quotaUsage(of: holder, on: descriptor)).flatMap { StorageSpace.Quota($0) }
    }
}

private func subvolumeQuotas(on descriptor: FileDescriptor) -> [StorageSpace.Quota] {
    SubvolumeLimit.all(on: descriptor).map { limit in
        var quota = StorageSpace.Quota(
            bytes: amount(limit.limit, soft: 0, used: limit.used)
                ?? StorageAmount(total: 0, available: 0))
        quota.isFreedByPurge = false
        return quota
    }
}

/// The reason why something is saved.
public enum StorageUse: Sendable, Hashable, CaseIterable {
    /// A user requested it, or it cannot be obtained again. Purging makes room for it.
    case important
    /// It has not been requested yet, such as data fetched in advance. It leaves a reserve.
    case opportunistic
}

/// The volume that contains an item: how much space is left, and whether something may be saved.
public struct StorageVolume: Sendable, Hashable {
    /// The item that identifies the volume.
    public let path: FilePath
    /// The space that opportunistic use leaves free, in bytes; nil for a tenth of the volume, at
    /// most 5 GiB.
    public var reserve: Int64?

    /// Creates the volume that contains an item.
    public init(holding path: FilePath) { self.path = path }

    /// Reads the available space: `fstatvfs(3)`, `quotactl_fd(2)`.
    ///
    /// - Throws: `FileError` when the item cannot be reached.
    public func space() throws(FileError) -> StorageSpace { try StorageSpace(at: path) }

    /// Returns the capacity by use, from the available space and the newest purge plan that
    /// `resval-purge` recorded for this volume, if it is at most an hour old.
    ///
    /// - Returns: nil where the filesystem does not count blocks (proc, sysfs).
    /// - Throws: `FileError` when the item cannot be reached.
    public func capacity() throws(FileError) -> UsageCapacity? {
        try UsageCapacity(at: path, reserve: reserve)
    }

    /// Whether something may be saved.
    ///
    /// It fits when it is within the volume's capacity for the use and within every quota of this
    /// process's user and group. Other programs may use the space first, and a purge may free less
    /// than planned, so `ENOSPC` still has to be handled.
    ///
    /// - Parameters:
    ///   - bytes: its size.
    ///   - use: why it is saved.
    /// - Returns: false also where the filesystem does not count blocks, or no inode is available.
    /// - Throws: `FileError` when the item cannot be reached.
    public func fits(_ bytes: Int64, for use: StorageUse) throws(FileError) -> Bool {
        guard let capacity = try capacity() else { return false }
        return capacity.fits(bytes, for: use, in: try space())
    }
}

extension UsageCapacity {
    /// Whether something fits, given a space that was measured at the same time.
    package func fits(_ bytes: Int64, for use: StorageUse, in space: StorageSpace) -> Bool {
        let freed = use == .important ? important - available : 0
        let room = use == .important ? important : opportunistic
        return bytes <= room && space.inodeAmounts.allSatisfy { $0.available > 0 }
            && space.quotas.allSatisfy { quota in
                let freed = quota.isFreedByPurge ? freed : 0
                return quota.bytes.map { $0.adding(freed).available >= bytes } ?? true
            }
    }
}
