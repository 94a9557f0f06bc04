import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

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
