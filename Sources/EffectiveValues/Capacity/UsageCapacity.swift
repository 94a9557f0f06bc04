import ResourceValues
import SystemCalls
import SystemPackage

/// How much may be stored on a volume, by how much it matters, in bytes:
/// `opportunistic` ≤ `available` ≤ `important` ≤ `total`.
public struct UsageCapacity: Sendable, Hashable {
    /// The size of the volume.
    public let total: Int64
    /// What an ordinary user may still store.
    public let available: Int64
    /// What may be stored of importance: available, and what the newest purge plan would free.
    public let important: Int64
    /// What may be stored that nobody asked for: available less a reserve.
    public let opportunistic: Int64

    /// Creates the capacities from a volume's.
    ///
    /// - Parameters:
    ///   - capacity: size and available space.
    ///   - purgeable: what a purge would free, in bytes; 0 where nobody knows.
    ///   - reserve: what stays free of opportunistic use, in bytes; nil for a tenth of the volume,
    ///     at most 5 GiB.
    public init(_ capacity: VolumeCapacity, purgeable: Int64, reserve: Int64? = nil) {
        total = capacity.total
        available = capacity.available
        important = capacity.availableForImportantUsage(purgeable: purgeable)
        opportunistic = capacity.availableForOpportunisticUsage(reserve: reserve)
    }

    /// Asks for the capacities of the volume that holds an item: `statx(2)`, `fstatvfs(3)`, and the
    /// user's record of the newest purge plan.
    ///
    /// A record that cannot be read or understood counts for nothing.
    ///
    /// - Returns: nil where the filesystem counts no blocks.
    /// - Throws: `FileError` when the item cannot be reached.
    public init?(
        at location: borrowing some FileLocation & ~Copyable, reserve: Int64? = nil
    ) throws(FileError) {
        guard let capacity = try location.volumeCapacity() else { return nil }
        let device: UInt64
        do throws(Errno) {
            device = try location.status().identity.device
        } catch {
            throw .readingStatus(error, of: location.pathForMessages)
        }
        self.init(
            capacity, purgeable: recordedPurgeableBytes(onDevice: device), reserve: reserve)
    }
}

/// What a purge of a volume would free, in bytes, by this user's record of the newest plan.
///
/// - Returns: 0 where there is no record that counts now, or none that can be read: nobody shall
///   rely on what is not known.
package func recordedPurgeableBytes(onDevice device: UInt64) -> Int64 {
    do throws(FileError) {
        return try PurgeRecords.current?.purgeableBytes(onDevice: device, now: currentTime()) ?? 0
    } catch {
        return 0
    }
}
