import ResourceValues

/// The space of a volume for uses of different importance, in bytes: `opportunistic` ≤ `available`
/// ≤ `important` ≤ `total`.
public struct UsageCapacity: Sendable, Hashable {
    /// The size of the volume.
    public let total: Int64
    /// The space available to an ordinary user.
    public let available: Int64
    /// The space for important use: what is available, plus what the newest purge plan would free.
    public let important: Int64
    /// The space for opportunistic use: what is available, less a reserve.
    public let opportunistic: Int64

    /// Creates the capacities from a volume's capacity.
    ///
    /// - Parameters:
    ///   - capacity: the size and the available space.
    ///   - purgeable: the space a purge would free, in bytes; 0 where unknown.
    ///   - reserve: the space that opportunistic use leaves free, in bytes; nil for a tenth of the
    ///     volume, at most 5 GiB.
    public init(_ capacity: VolumeCapacity, purgeable: Int64, reserve: Int64? = nil) {
        total = capacity.total
        available = capacity.available
        important = min(available.addingSaturating(max(purgeable, 0)), total)
        opportunistic = capacity.availableForOpportunisticUsage(reserve: reserve)
    }

    /// Reads the capacities of the volume that contains an item: `statx(2)`, `fstatvfs(3)`, and the
    /// user's record of the newest purge plan.
    ///
    /// A record that cannot be read or parsed is ignored.
    ///
    /// - Returns: nil where the filesystem does not count blocks.
    /// - Throws: `FileError` when the item cannot be reached.
    public init?(
        at location: borrowing some FileLocation & ~Copyable, reserve: Int64? = nil
    ) throws(FileError) {
        guard let capacity = try location.volumeCapacity() else { return nil }
        let device = try location.fileStatus().identity.device
        self.init(
            capacity, purgeable: recordedPurgeableBytes(onDevice: device), reserve: reserve)
    }
}

/// Returns the space that a purge of a volume would free, in bytes, according to this user's record
/// of the newest plan.
///
/// - Returns: 0 where no record counts now or none can be read: space that is not known to be
///   purgeable must not be relied on.
package func recordedPurgeableBytes(onDevice device: UInt64) -> Int64 {
    (try? PurgeRecords.current?.purgeableBytes(onDevice: device, now: FileTime.now)) ?? 0
}
