import SystemCalls
import SystemPackage

/// What to delete to free space on a volume, in this order, and what it looked like when it was
/// chosen.
///
/// A plan only narrows what is deleted: whoever carries it out decides for each unit again whether
/// it may go.
public struct PurgePlan: Sendable, Hashable {
    /// When the units were chosen.
    public let created: FileTime
    /// The boot in which they were, as `/proc/sys/kernel/random/boot_id` names it: device numbers
    /// mean nothing in another one.
    public let bootID: String
    /// The device number of the filesystem that is short of space.
    public let device: UInt64
    /// What deleting the units shall free at least, in bytes.
    public let wantedBytes: Int64
    /// Where units were looked for; empty for the user's own directories.
    public let roots: [FilePath]
    /// The units, in the order in which they go.
    public let units: [PurgeUnit]

    /// Creates a plan from its parts.
    public init(
        created: FileTime, bootID: String, device: UInt64, wantedBytes: Int64,
        roots: [FilePath] = [], units: [PurgeUnit]
    ) {
        self.created = created
        self.bootID = bootID
        self.device = device
        self.wantedBytes = wantedBytes
        self.roots = roots
        self.units = units
    }

    /// What deleting all units is expected to free, in bytes.
    public var bytes: Int64 { units.reduce(0) { $0.addingSaturating($1.bytes) } }
}
