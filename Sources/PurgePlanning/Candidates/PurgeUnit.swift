import SystemCalls
import SystemPackage

/// A file, or a directory with all below it, that is deleted whole or not at all.
public struct PurgeUnit: Sendable, Hashable {
    /// The absolute path's bytes.
    public let path: [UInt8]
    /// What kind of thing it is.
    public let purgeClass: PurgeClass
    /// Whether it is a directory.
    public let isDirectory: Bool
    /// Device and inode of the file or the directory itself.
    public let identity: FileIdentity
    /// When the newest item in it was last used, changed or made.
    public let lastUse: FileTime
    /// What deleting it is expected to free, in bytes.
    public let bytes: Int64
    /// How many items it has, itself included.
    public let itemCount: Int
    /// What it looked like when it was chosen.
    public let pin: PurgePin
    /// How many names below `/` lead to it.
    let depth: Int

    /// Creates a unit from its parts, as a plan file has them.
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
    /// Whether one is deleted before another: by class, then least recently used first, then the
    /// deeper first. Ties are broken by path, so that every run comes to the same list.
    public static func < (first: PurgeUnit, second: PurgeUnit) -> Bool {
        if first.purgeClass != second.purgeClass { return first.purgeClass < second.purgeClass }
        if first.lastUse != second.lastUse { return first.lastUse < second.lastUse }
        if first.depth != second.depth { return first.depth > second.depth }
        return first.path.lexicographicallyPrecedes(second.path)
    }
}
