import SystemCalls
import SystemPackage

/// What a unit looks like now, by the same rules by which it was found.
struct Examination {
    /// The unit as the rules describe it now.
    let unit: PurgeUnit
    let place: UnitPlace
    /// A unit that is a file, under lease; nil for directories and symbolic links.
    let held: HeldFile?
    /// What is in a directory; nothing for others.
    let contents: UnitContents

    /// Whether a second look at a directory shows what the first one did. Renaming it changes nothing
    /// but the directory's own time of change.
    func isUnchanged(since first: Examination) -> Bool {
        unit.identity == first.unit.identity && contents.digest == first.contents.digest
            && unit.itemCount == first.unit.itemCount && unit.bytes == first.unit.bytes
            && unit.pin.size == first.unit.pin.size
            && unit.pin.contentModificationTime == first.unit.pin.contentModificationTime
            && place.parentStatus.identity == first.place.parentStatus.identity
    }
}

/// What is below a directory.
struct UnitContents: Sendable {
    /// A number that differs when any status does, whatever the order.
    private(set) var digest: UInt64 = 0
    /// When any inode below was changed last.
    private(set) var newestChange = FileTime(seconds: .min, nanoseconds: 0)
    /// The directories, the top included.
    private(set) var directories: Set<FileIdentity> = []
    /// The files with several names.
    private var linkedFiles: Set<FileIdentity> = []

    /// What a removal changes the times of before it goes.
    var known: Set<FileIdentity> { directories.union(linkedFiles) }

    /// - Parameter top: the directory that holds all of it.
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
    /// Whether a unit is what a plan saw: the same file or directory, with the same times and no
    /// more to free. When it was last read does not count.
    func isAsPlanned(_ planned: PurgeUnit) -> Bool {
        path == planned.path && purgeClass == planned.purgeClass
            && isDirectory == planned.isDirectory && identity == planned.identity
            && pin == planned.pin && itemCount == planned.itemCount && bytes == planned.bytes
    }
}
