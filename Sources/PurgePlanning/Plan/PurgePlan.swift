import ResourceValues
import SystemCalls
import SystemPackage

/// The units to delete to free space on a volume, in order, with the state they had when they were
/// chosen.
///
/// A plan only restricts what is deleted: when it is executed, the rules decide again for each
/// unit.
public struct PurgePlan: Sendable, Hashable {
    /// When the units were chosen.
    public let created: FileTime
    /// The boot in which the units were chosen, from `/proc/sys/kernel/random/boot_id`: device
    /// numbers are not comparable between boots.
    public let bootID: String
    /// The device number of the filesystem that is short of space.
    public let device: UInt64
    /// How many bytes deleting the units is meant to free at least.
    public let wantedBytes: Int64
    /// The search roots; empty for the user's own directories.
    public let roots: [FilePath]
    /// The units, in order of deletion.
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

    /// Creates a plan of units that were found in this boot, reading the boot's identifier and the
    /// volume's device number.
    ///
    /// - Parameter volume: a path on the filesystem that is short of space.
    /// - Throws: `FileError` when either cannot be read.
    public init(
        freeing wantedBytes: Int64, on volume: FilePath, roots: [FilePath] = [],
        units: [PurgeUnit], created: FileTime
    ) throws(FileError) {
        self.init(
            created: created, bootID: try bootIdentifier(),
            device: try volume.fileStatus().identity.device, wantedBytes: wantedBytes,
            roots: roots, units: units)
    }

    /// How many bytes deleting all units is expected to free.
    public var bytes: Int64 { units.reduce(0) { $0.addingSaturating($1.bytes) } }
}

/// The reason why a text is not a valid plan.
public struct PurgePlanError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension PurgePlan {
    /// The version of the format of ``json``.
    static let formVersion: Int64 = 1

    /// The plan as a JSON object on one line, as read by ``init(json:)``.
    public var json: [UInt8] {
        var line = JSONLine()
        line.add("type", "purge-plan")
        line.add("version", Self.formVersion)
        line.add("created", created)
        line.add("bootID", bootID)
        line.add("device", device)
        line.add("wantedBytes", wantedBytes)
        line.add("roots", objects: roots) { root, line in line.add(path: root.bytes) }
        line.add("units", objects: units) { unit, line in unit.add(to: &line) }
        return line.ended()
    }
}

extension PurgeUnit {
    fileprivate func add(to line: inout JSONLine) {
        line.add(path: path)
        line.add("class", purgeClass.name)
        line.add("isDirectory", isDirectory)
        line.add("device", identity.device)
        line.add("inode", identity.inode)
        line.add("lastUse", lastUse)
        line.add("bytes", bytes)
        line.add("itemCount", itemCount)
        line.add("size", pin.size)
        line.add("contentModificationTime", pin.contentModificationTime)
        line.add("attributeModificationTime", pin.attributeModificationTime)
        line.add("newestChange", pin.newestChange)
    }
}
