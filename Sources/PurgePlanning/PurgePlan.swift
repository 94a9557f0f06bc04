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
    /// How many inodes deleting the units is meant to free at least.
    public let wantedInodes: Int64
    /// The search roots; empty for the user's own directories.
    public let roots: [FilePath]
    /// The units, in order of deletion.
    public let units: [PurgeUnit]

    /// Creates a plan from its parts.
    public init(
        created: FileTime, bootID: String, device: UInt64, wantedBytes: Int64,
        wantedInodes: Int64 = 0, roots: [FilePath] = [], units: [PurgeUnit]
    ) {
        self.created = created
        self.bootID = bootID
        self.device = device
        self.wantedBytes = wantedBytes
        self.wantedInodes = wantedInodes
        self.roots = roots
        self.units = units
    }

    /// Creates a plan of units that were found in this boot, reading the boot's identifier and the
    /// volume's device number.
    ///
    /// - Parameter volume: a path on the filesystem that is short of space.
    /// - Throws: `FileError` when either cannot be read.
    public init(
        freeing wantedBytes: Int64, inodes wantedInodes: Int64 = 0, on volume: FilePath,
        roots: [FilePath] = [], units: [PurgeUnit], created: FileTime
    ) throws(FileError) {
        self.init(
            created: created, bootID: try bootIdentifier(),
            device: try volume.fileStatus().identity.device, wantedBytes: wantedBytes,
            wantedInodes: wantedInodes, roots: roots, units: units)
    }

    /// Returns the plan with only those of its units that have one of some paths.
    package func only(_ paths: Set<[UInt8]>) -> PurgePlan {
        PurgePlan(
            created: created, bootID: bootID, device: device, wantedBytes: wantedBytes,
            wantedInodes: wantedInodes, roots: roots,
            units: units.filter { paths.contains($0.path) })
    }

    /// How many bytes deleting all units is expected to free.
    public var bytes: Int64 { amount.bytes }

    package var amount: PurgeAmount { units.reduce(into: PurgeAmount()) { $0.add($1.amount) } }

    package var wanted: PurgeAmount { PurgeAmount(bytes: wantedBytes, inodes: wantedInodes) }
}

/// The reason why a text is not a valid plan.
public struct PurgePlanError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension PurgePlan {
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
        line.add("wantedInodes", wantedInodes)
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

extension PurgePlan {
    /// Reads a plan from JSON strictly: missing, unknown and duplicate fields, values of another
    /// type, paths that are not in canonical form, and units inside others are refused.
    ///
    /// - Throws: ``PurgePlanError``.
    public init(json: [UInt8]) throws(PurgePlanError) {
        var fields = try valid { () throws(JSONError) in try JSONFields(json[...]) }
        guard fields.text("type") == "purge-plan" else {
            throw PurgePlanError("is not a purge plan")
        }
        guard fields.number("version") == Self.formVersion else {
            throw PurgePlanError("has an unknown version")
        }
        let roots = try valid { () throws(JSONError) in
            try fields.objects("roots") { root -> FilePath? in
                guard case let path?? = root.bytes("path") else { return nil }
                return FilePath(plainAbsolute: path)
            }
        }
        let units = try valid { () throws(JSONError) in
            try fields.objects("units") { PurgeUnit(&$0) }
        }
        guard let created = fields.time("created"),
            let bootID = fields.text("bootID"), !bootID.isEmpty,
            let device: UInt64 = fields.number("device"),
            let wantedBytes: Int64 = fields.number("wantedBytes"), wantedBytes >= 0,
            let wantedInodes: Int64 = fields.number("wantedInodes"), wantedInodes >= 0,
            let roots, let units, fields.isEmpty
        else { throw PurgePlanError("lacks fields, or has unknown or invalid ones") }
        guard areApart(units.map(\.path)) else {
            throw PurgePlanError("has a path twice, or one below another")
        }
        self.init(
            created: created, bootID: bootID, device: device, wantedBytes: wantedBytes,
            wantedInodes: wantedInodes, roots: roots, units: units)
    }
}

extension PurgeUnit {
    fileprivate init?(_ fields: inout JSONFields) {
        guard case let path?? = fields.bytes("path"), RelativePath(absolute: path) != nil,
            let name = fields.text("class"),
            let purgeClass = PurgeClass.allCases.first(where: { $0.name == name }),
            let isDirectory = fields.boolean("isDirectory"),
            let device: UInt64 = fields.number("device"),
            let inode: UInt64 = fields.number("inode"),
            let lastUse = fields.time("lastUse"),
            let bytes: Int64 = fields.number("bytes"), bytes >= 0,
            let itemCount: Int = fields.number("itemCount"), itemCount >= 1,
            let size: Int64 = fields.number("size"), size >= 0,
            let contentModificationTime = fields.time("contentModificationTime"),
            let attributeModificationTime = fields.time("attributeModificationTime"),
            let newestChange = fields.time("newestChange")
        else { return nil }
        self.init(
            path: path, purgeClass: purgeClass, isDirectory: isDirectory,
            identity: FileIdentity(device: device, inode: inode), lastUse: lastUse, bytes: bytes,
            itemCount: itemCount,
            pin: PurgePin(
                size: size, contentModificationTime: contentModificationTime,
                attributeModificationTime: attributeModificationTime, newestChange: newestChange))
    }
}

private func valid<Value>(
    _ read: () throws(JSONError) -> Value
) throws(PurgePlanError) -> Value {
    do throws(JSONError) {
        return try read()
    } catch {
        throw PurgePlanError("is not valid JSON of a plan (byte \(error.offset))")
    }
}

/// Whether no path occurs twice or lies below another.
private func areApart(_ paths: [[UInt8]]) -> Bool {
    let all = Set(paths)
    guard all.count == paths.count else { return false }
    return paths.allSatisfy { path in
        let slashes = path.indices.dropFirst().filter { path[$0] == UInt8(ascii: "/") }
        return !slashes.contains { all.contains(Array(path[..<$0])) }
    }
}
