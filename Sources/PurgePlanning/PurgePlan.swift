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

    /// How many bytes deleting all units is expected to free.
    public var bytes: Int64 { amount.bytes }

    /// How much deleting all units is expected to free.
    package var amount: PurgeAmount { units.reduce(into: PurgeAmount()) { $0.add($1.amount) } }

    /// How much deleting the units is meant to free at least.
    package var wanted: PurgeAmount { PurgeAmount(bytes: wantedBytes, inodes: wantedInodes) }
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
    /// type, and paths that are not in canonical form are refused.
    ///
    /// - Throws: ``PurgePlanError``.
    public init(json: [UInt8]) throws(PurgePlanError) {
        var scanner = JSONScanner(json[...], hasLostBytes: false)
        var reader = PlanReader()
        do throws(JSONError) {
            self = try reader.plan(&scanner)
        } catch {
            throw PurgePlanError(reader.problem ?? "is not valid JSON (byte \(error.offset))")
        }
    }
}

/// Reads the objects of a plan strictly: only known fields, each once.
private struct PlanReader {
    /// What is wrong with the plan, in words; nil for errors of the JSON itself.
    private(set) var problem: String?

    mutating func plan(_ scanner: inout JSONScanner) throws(JSONError) -> PurgePlan {
        var (isPlan, isKnown) = (false, false)
        var created: FileTime?
        var bootID: String?
        var device: UInt64?
        var wantedBytes: Int64?
        var wantedInodes: Int64?
        var roots: [FilePath]?
        var units: [PurgeUnit]?
        try forEachField(&scanner) { reader, scanner, name throws(JSONError) in
            switch name {
            case "type":
                isPlan = try scanner.text() == "purge-plan"
                guard isPlan else { throw reader.refuse("is not a purge plan") }
            case "version":
                isKnown = try scanner.integer() == PurgePlan.formVersion
                guard isKnown else { throw reader.refuse("has an unknown version") }
            case "created": created = try reader.time(&scanner)
            case "bootID": bootID = try scanner.text()
            case "device": device = try scanner.unsigned()
            case "wantedBytes": wantedBytes = try reader.amount(&scanner)
            case "wantedInodes": wantedInodes = try reader.amount(&scanner)
            case "roots":
                roots = try reader.elements(&scanner, "root") { reader, scanner throws(JSONError) in
                    try reader.root(&scanner)
                }
            case "units":
                units = try reader.elements(&scanner, "unit") { reader, scanner throws(JSONError) in
                    try reader.unit(&scanner)
                }
            default: throw reader.refuse("has an unknown field")
            }
        }
        guard isPlan, isKnown, let created, let bootID, !bootID.isEmpty, let device,
            let wantedBytes, let wantedInodes, let roots, let units
        else { throw refuse("lacks required fields") }
        guard Self.areApart(units.map(\.path)) else {
            throw refuse("has a unit twice, or one inside another")
        }
        return PurgePlan(
            created: created, bootID: bootID, device: device, wantedBytes: wantedBytes,
            wantedInodes: wantedInodes, roots: roots, units: units)
    }

    /// Whether no path occurs twice or lies below another.
    private static func areApart(_ paths: [[UInt8]]) -> Bool {
        let all = Set(paths)
        guard all.count == paths.count else { return false }
        return paths.allSatisfy { path in
            let slashes = path.indices.dropFirst().filter { path[$0] == UInt8(ascii: "/") }
            return !slashes.contains { all.contains(Array(path[..<$0])) }
        }
    }

    private mutating func root(_ scanner: inout JSONScanner) throws(JSONError) -> FilePath {
        var path: [UInt8]?
        try forEachField(&scanner) { reader, scanner, name throws(JSONError) in
            try reader.path(&scanner, in: name, mayBeTop: true, &path)
        }
        guard let path else { throw refuse("has no path") }
        return FilePath(bytes: path)
    }

    private mutating func unit(_ scanner: inout JSONScanner) throws(JSONError) -> PurgeUnit {
        var path: [UInt8]?
        var purgeClass: PurgeClass?
        var isDirectory: Bool?
        var numbers: [String: UInt64] = [:]
        var amounts: [String: Int64] = [:]
        var times: [String: FileTime] = [:]
        try forEachField(&scanner) { reader, scanner, name throws(JSONError) in
            switch name {
            case "class":
                let name = try scanner.text()
                purgeClass = PurgeClass.allCases.first { $0.name == name }
                if purgeClass == nil { throw reader.refuse("has an unknown class") }
            case "isDirectory": isDirectory = try scanner.bool()
            case "device", "inode": numbers[name] = try scanner.unsigned()
            case "bytes", "itemCount", "size": amounts[name] = try reader.amount(&scanner)
            case "lastUse", "contentModificationTime", "attributeModificationTime", "newestChange":
                times[name] = try reader.time(&scanner)
            default: try reader.path(&scanner, in: name, mayBeTop: false, &path)
            }
        }
        guard let path, let purgeClass, let isDirectory, let device = numbers["device"],
            let inode = numbers["inode"], let bytes = amounts["bytes"],
            let itemCount = amounts["itemCount"], itemCount >= 1, let size = amounts["size"],
            let lastUse = times["lastUse"],
            let contentModificationTime = times["contentModificationTime"],
            let attributeModificationTime = times["attributeModificationTime"],
            let newestChange = times["newestChange"]
        else { throw refuse("lacks required fields") }
        let pin = PurgePin(
            size: size, contentModificationTime: contentModificationTime,
            attributeModificationTime: attributeModificationTime, newestChange: newestChange)
        return PurgeUnit(
            path: path, purgeClass: purgeClass, isDirectory: isDirectory,
            identity: FileIdentity(device: device, inode: inode), lastUse: lastUse, bytes: bytes,
            itemCount: Int(itemCount), pin: pin)
    }

    /// Calls `read` with each field of the next object.
    private mutating func forEachField(
        _ scanner: inout JSONScanner,
        _ read: (inout PlanReader, inout JSONScanner, String) throws(JSONError) -> Void
    ) throws(JSONError) {
        var names: Set<String> = []
        try scanner.forEachField { scanner, name throws(JSONError) in
            guard names.insert(name).inserted else { throw refuse("has the field \(name) twice") }
            try read(&self, &scanner, name)
        }
    }

    /// Reads the next array of objects.
    ///
    /// - Parameter noun: the noun for one of them in messages.
    private mutating func elements<Element>(
        _ scanner: inout JSONScanner, _ noun: String,
        _ read: (inout PlanReader, inout JSONScanner) throws(JSONError) -> Element
    ) throws(JSONError) -> [Element] {
        guard try !scanner.takesNull() else { throw refuse("has null in place of an array") }
        var found: [Element] = []
        try scanner.forEachElement { scanner throws(JSONError) in
            do throws(JSONError) {
                found.append(try read(&self, &scanner))
            } catch {
                problem = problem.map { "\(noun) \(found.count + 1) \($0)" }
                throw error
            }
        }
        return found
    }

    /// Records what is wrong.
    ///
    /// - Returns: an error that ends the reading.
    private mutating func refuse(_ problem: String) -> JSONError {
        self.problem = problem
        return JSONError(offset: 0)
    }

    /// Reads a non-negative integer.
    private mutating func amount(_ scanner: inout JSONScanner) throws(JSONError) -> Int64 {
        let amount = try scanner.integer()
        guard amount >= 0 else { throw refuse("has a negative amount") }
        return amount
    }

    /// Reads an RFC 3339 time.
    private mutating func time(_ scanner: inout JSONScanner) throws(JSONError) -> FileTime {
        guard let time = FileTime(rfc3339: try scanner.string()) else {
            throw refuse("has an invalid time")
        }
        return time
    }

    /// Reads a field that must be `path`, or `pathBase64` beside a null `path`: an absolute path in
    /// canonical form.
    ///
    /// - Parameters:
    ///   - mayBeTop: whether `/` is accepted.
    ///   - path: the path read so far.
    private mutating func path(
        _ scanner: inout JSONScanner, in name: String, mayBeTop: Bool, _ path: inout [UInt8]?
    ) throws(JSONError) {
        let isText = name == "path"
        guard isText || name == "pathBase64" else { throw refuse("has an unknown field") }
        guard path == nil else { throw refuse("has two paths") }
        if isText, try scanner.takesNull() { return }
        let value = try scanner.string()
        guard let bytes = isText ? value : Base64.bytes(of: value) else {
            throw refuse("has a path that is not Base64")
        }
        guard (String(validating: bytes, as: UTF8.self) != nil) == isText else {
            throw refuse("has a path that belongs in \(isText ? "pathBase64" : "path")")
        }
        path = bytes
        if mayBeTop, bytes == [UInt8(ascii: "/")] { return }
        let names = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let dot = UInt8(ascii: ".")
        guard names.count >= 2, names[0].isEmpty, !bytes.contains(0),
            names.dropFirst().allSatisfy({ !$0.isEmpty && $0 != [dot] && $0 != [dot, dot] })
        else { throw refuse("has a path that is not absolute, or contains '.', '..' or '//'") }
    }
}
