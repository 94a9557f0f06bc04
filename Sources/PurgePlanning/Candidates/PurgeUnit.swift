import SystemCalls
import SystemPackage

/// A file, or a directory with everything below it, that is deleted whole or not at all.
public struct PurgeUnit: Sendable, Hashable {
    /// The bytes of the absolute path.
    public let path: [UInt8]
    /// The class the unit is deleted in.
    public let purgeClass: PurgeClass
    /// Whether the unit is a directory.
    public let isDirectory: Bool
    /// Whether it is not known whether deleting the unit frees a mebibyte, since files in it share blocks
    /// with each other. Not in plan files.
    package let mayFreeMore: Bool
    /// The device and inode of the file or of the directory itself.
    public let identity: FileIdentity
    /// The latest access, modification, change or birth time in the unit; the change times of
    /// directories do not count.
    public let lastUse: FileTime
    /// How much deleting the unit is expected to free. In plan files each byte is certain, and each item
    /// counts as an inode, also that of a file with hard links elsewhere.
    package let amount: PurgeAmount
    /// The number of items in the unit, the top item included.
    public let itemCount: Int
    /// The state of the unit when it was chosen.
    public let pin: PurgePin

    /// Creates a unit from its parts, as read from a plan file.
    public init(
        path: [UInt8], purgeClass: PurgeClass, isDirectory: Bool, identity: FileIdentity,
        lastUse: FileTime, bytes: Int64, itemCount: Int, pin: PurgePin
    ) {
        self.init(
            path: path, purgeClass: purgeClass, isDirectory: isDirectory, identity: identity,
            lastUse: lastUse, freeing: PurgeAmount(bytes: bytes, inodes: Int64(itemCount)),
            itemCount: itemCount, pin: pin)
    }

    init(
        path: [UInt8], purgeClass: PurgeClass, isDirectory: Bool, mayFreeMore: Bool = false,
        identity: FileIdentity, lastUse: FileTime, freeing amount: PurgeAmount, itemCount: Int,
        pin: PurgePin
    ) {
        self.path = path
        self.purgeClass = purgeClass
        self.isDirectory = isDirectory
        self.mayFreeMore = mayFreeMore
        self.identity = identity
        self.lastUse = lastUse
        self.amount = amount
        self.itemCount = itemCount
        self.pin = pin
    }

    /// How many bytes deleting the unit is expected to free; less where they are compressed.
    public var bytes: Int64 { amount.bytes }

    /// The unit's part of the order of deletion that needs no path.
    var bound: UnitBound { UnitBound(purgeClass, bytes, mayFreeMore: mayFreeMore, lastUse) }

    private var depth: Int { path.count { $0 == UInt8(ascii: "/") } }
}

extension PurgeUnit: Comparable {
    /// Whether the first unit is deleted before the second: those last of which it is not known whether
    /// they free a mebibyte, then by class, then those of a mebibyte and more first unless they are
    /// marked, then the least recently used first, then the deeper path first. Ties are broken by path,
    /// so that every run produces the same list.
    public static func < (first: PurgeUnit, second: PurgeUnit) -> Bool {
        let (bound, otherBound) = (first.bound, second.bound)
        if bound != otherBound { return bound < otherBound }
        let (depth, otherDepth) = (first.depth, second.depth)
        return depth == otherDepth
            ? first.path.lexicographicallyPrecedes(second.path) : depth > otherDepth
    }
}

/// How much space something takes, or deleting it is expected to free.
package struct PurgeAmount: Sendable, Hashable {
    /// The number of bytes if nothing is compressed.
    package private(set) var bytes: Int64
    /// The number of bytes that are freed for certain: the space that compressed ones take is not known.
    private(set) var certainBytes: Int64
    package private(set) var inodes: Int64

    /// - Parameter compressed: how many of the bytes are compressed.
    package init(bytes: Int64 = 0, compressed: Int64 = 0, inodes: Int64 = 0) {
        self.bytes = bytes
        certainBytes = max(0, bytes.subtractingSaturating(compressed))
        self.inodes = inodes
    }

    package mutating func add(_ other: PurgeAmount) {
        bytes.addSaturating(other.bytes)
        certainBytes.addSaturating(other.certainBytes)
        inodes.addSaturating(other.inodes)
    }

    /// Whether another amount has at least as many bytes and as many inodes.
    package func isReached(by other: PurgeAmount) -> Bool {
        other.bytes >= bytes && other.inodes >= inodes
    }

    /// Returns what another amount lacks to reach this one.
    package func missing(in other: PurgeAmount) -> PurgeAmount {
        PurgeAmount(
            bytes: max(0, bytes.subtractingSaturating(other.bytes)),
            inodes: max(0, inodes.subtractingSaturating(other.inodes)))
    }
}

/// The state of a unit when it was chosen. Before the unit is deleted, the state is compared again;
/// a unit that differs is kept.
public struct PurgePin: Sendable, Hashable {
    /// The size of the file or the directory itself, in bytes.
    public let size: Int64
    /// The item's modification time.
    public let contentModificationTime: FileTime
    /// The item's inode change time.
    public let attributeModificationTime: FileTime
    /// The latest inode change time in the unit, the top item included: a change deep inside a
    /// directory does not touch the directory's own times.
    public let newestChange: FileTime

    init(_ status: FileStatus, newestChange: FileTime) {
        size = status.size
        contentModificationTime = status.contentModificationTime
        attributeModificationTime = status.attributeModificationTime
        self.newestChange = newestChange
    }

    /// Creates a pin from its parts, as read from a plan file.
    public init(
        size: Int64, contentModificationTime: FileTime, attributeModificationTime: FileTime,
        newestChange: FileTime
    ) {
        self.size = size
        self.contentModificationTime = contentModificationTime
        self.attributeModificationTime = attributeModificationTime
        self.newestChange = newestChange
    }
}

/// The kind of item that is deleted, in order of deletion: lower classes first.
public enum PurgeClass: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// Temporary files.
    case temporary
    /// Caches.
    case caches
    /// Items whose own mark allows deletion.
    case marked

    /// Whether the first class is deleted before the second.
    public static func < (first: PurgeClass, second: PurgeClass) -> Bool {
        first.rawValue < second.rawValue
    }

    /// The class's name: `temporary`, `caches` or `marked`.
    public var name: String {
        switch self {
        case .temporary: "temporary"
        case .caches: "caches"
        case .marked: "marked"
        }
    }
}

extension FileStatus {
    /// Returns the latest of the file's access, modification, change and birth times.
    ///
    /// A directory's change time is ignored: deleting or marking something in it changes that time. A
    /// time of access or modification in the future says nothing, since any program can set it, as
    /// archives do: then the change time counts, for directories, too.
    ///
    /// - Parameter now: when the search or the run began.
    func lastUse(asOf now: FileTime) -> FileTime {
        let (written, read) = (contentModificationTime, contentAccessTime)
        // What was used since the search began is not in the future.
        let clock = max(written, read) > now ? max(now, .now) : now
        var newest = creationTime ?? FileTime(seconds: .min, nanoseconds: 0)
        if written <= clock { newest = max(newest, written) }
        if read <= clock { newest = max(newest, read) }
        let isDoubtful = written > clock || read > clock
        return kind == .directory && !isDoubtful ? newest : max(newest, attributeModificationTime)
    }
}
