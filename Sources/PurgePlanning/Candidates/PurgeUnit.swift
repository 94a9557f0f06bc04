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
    /// The device and inode of the file or of the directory itself.
    public let identity: FileIdentity
    /// The latest access, modification, change or birth time in the unit; the change times of
    /// directories do not count.
    public let lastUse: FileTime
    /// How many bytes deleting the unit is expected to free.
    public let bytes: Int64
    /// The number of items in the unit, the top item included.
    public let itemCount: Int
    /// The state of the unit when it was chosen.
    public let pin: PurgePin
    /// The number of path components.
    let depth: Int

    /// Creates a unit from its parts, as read from a plan file.
    public init(
        path: [UInt8], purgeClass: PurgeClass, isDirectory: Bool, identity: FileIdentity,
        lastUse: FileTime, bytes: Int64, itemCount: Int, pin: PurgePin
    ) {
        self.path = path
        self.purgeClass = purgeClass
        self.isDirectory = isDirectory
        self.identity = identity
        self.lastUse = lastUse
        self.bytes = bytes
        self.itemCount = itemCount
        self.pin = pin
        let slash = UInt8(ascii: "/")
        depth = path.count { $0 == slash }
    }
}

extension PurgeUnit: Comparable {
    /// Whether the first unit is deleted before the second: by class, then the least recently used
    /// first, then the deeper path first. Ties are broken by path, so that every run produces the
    /// same list.
    public static func < (first: PurgeUnit, second: PurgeUnit) -> Bool {
        if first.purgeClass != second.purgeClass { return first.purgeClass < second.purgeClass }
        if first.lastUse != second.lastUse { return first.lastUse < second.lastUse }
        if first.depth != second.depth { return first.depth > second.depth }
        return first.path.lexicographicallyPrecedes(second.path)
    }
}
