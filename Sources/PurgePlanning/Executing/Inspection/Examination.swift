import FileTree
import SystemCalls
import SystemPackage

/// The current state of a unit, determined by the rules of the search.
struct Examination {
    /// The unit as the rules describe it now.
    let unit: PurgeUnit
    let place: UnitEntry
    /// The search root it was reached from.
    let root: ExaminedRoot
    /// The leased file, when the unit is a regular file; nil for directories and symbolic links.
    let leased: LeasedFile?
    /// The content of a directory; empty for other units.
    let contents: UnitContents

    /// Whether a second examination of a directory found what the first one did. Renaming the
    /// directory changes only its own change time, which is not compared.
    func isUnchanged(since first: Examination) -> Bool {
        unit.identity == first.unit.identity && contents.digest == first.contents.digest
            && unit.itemCount == first.unit.itemCount && unit.bytes == first.unit.bytes
            && unit.pin.size == first.unit.pin.size
            && unit.pin.contentModificationTime == first.unit.pin.contentModificationTime
            && place.parentStatus.identity == first.place.parentStatus.identity
    }
}

/// A search root from which a unit was reached.
struct ExaminedRoot: Sendable {
    let point: TreeRoot<PurgeContext>
    /// The device and inode of the root.
    let identity: FileIdentity
}

/// The content of a directory unit.
struct UnitContents: Sendable {
    /// A hash of the statuses of all items that does not depend on their order.
    private(set) var digest: UInt64 = 0
    /// The latest inode change time below the directory.
    private(set) var newestChange = FileTime(seconds: .min, nanoseconds: 0)
    /// The directories, the top one included.
    private(set) var directories: Set<FileIdentity> = []
    /// The files with several hard links.
    private var linkedFiles: Set<FileIdentity> = []

    /// The items whose times a removal changes before it removes them.
    var known: Set<FileIdentity> { directories.union(linkedFiles) }

    /// - Parameter top: the directory unit itself.
    init(of top: FileIdentity? = nil) {
        if let top { directories.insert(top) }
    }

    mutating func add(_ status: FileStatus, named name: [UInt8]) {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(status.identity)
        hasher.combine(status.kind)
        hasher.combine(status.permissions)
        hasher.combine(status.owner)
        hasher.combine(status.size)
        hasher.combine(status.linkCount)
        hasher.combine(status.contentModificationTime)
        hasher.combine(status.attributeModificationTime)
        digest &+= UInt64(bitPattern: Int64(hasher.finalize()))
        newestChange = max(newestChange, status.attributeModificationTime)
        if status.kind == .directory {
            directories.insert(status.identity)
        } else if status.linkCount > 1 {
            linkedFiles.insert(status.identity)
        }
    }
}

extension PurgeUnit {
    /// Whether a unit is what the plan recorded: the same file or directory, with the same pin,
    /// item count and bytes to free. Access times are not compared.
    func isAsPlanned(_ planned: PurgeUnit) -> Bool {
        path == planned.path && purgeClass == planned.purgeClass
            && isDirectory == planned.isDirectory && identity == planned.identity
            && pin == planned.pin && itemCount == planned.itemCount && bytes == planned.bytes
    }
}

/// A unit's name in its parent directory, which was reached from `/` by descriptor.
struct UnitEntry: Sendable {
    /// The unit's name.
    let name: [UInt8]
    /// The path of the parent directory.
    let parentPath: [UInt8]
    /// The parent directory, opened with `O_PATH`.
    let parent: OpenDirectory
    /// The status of the parent directory.
    let parentStatus: FileStatus

    var directory: FileDescriptor { parent.descriptor }

    /// Returns the current status of a name in the directory; nil when there is no such entry.
    func status(of name: [UInt8]) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try parent.location(of: FilePath(bytes: name)).statusAtHand()
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }
}
