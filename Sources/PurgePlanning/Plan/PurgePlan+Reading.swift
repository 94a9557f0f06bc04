import SystemCalls
import SystemPackage

extension PurgePlan {
    /// Reads a plan from JSON strictly: missing, unknown and duplicate fields, values of another
    /// type, and paths that are not in canonical form are refused.
    ///
    /// - Throws: ``PurgePlanError``.
    public init(json: [UInt8]) throws(PurgePlanError) {
        var scanner = JSONScanner(json[...], hasLostBytes: false)
        var fields = PlanFields()
        do throws(JSONError) {
            self = try fields.readWhole(&scanner)
        } catch {
            throw PurgePlanError(fields.problem ?? "is not valid JSON (byte \(error.offset))")
        }
    }
}

/// The fields of a plan read so far.
private struct PlanFields: StrictFields {
    var names: Set<String> = []
    var problem: String?
    private var created: FileTime?
    private var bootID: String?
    private var device: UInt64?
    private var wantedBytes: Int64?
    private var roots: [FilePath]?
    private var units: [PurgeUnit]?

    init() {}

    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        switch name {
        case "type":
            guard try scanner.text() == "purge-plan" else { throw refuse("is not a purge plan") }
        case "version":
            guard try scanner.integer() == PurgePlan.formVersion else {
                throw refuse("has an unknown version")
            }
        case "created": created = try time(&scanner)
        case "bootID": bootID = try scanner.text()
        case "device": device = try scanner.unsigned()
        case "wantedBytes": wantedBytes = try amount(&scanner)
        case "roots": roots = try elements(&scanner, "root", RootFields.self)
        case "units": units = try elements(&scanner, "unit", UnitFields.self)
        default: throw refuse("has an unknown field")
        }
    }

    mutating func whole() throws(JSONError) -> PurgePlan {
        guard names.contains("type"), names.contains("version"), let created, let bootID,
            !bootID.isEmpty, let device, let wantedBytes, let roots, let units
        else { throw refuse("lacks required fields") }
        guard areApart(units.map(\.path)) else {
            throw refuse("has a unit twice, or one inside another")
        }
        return PurgePlan(
            created: created, bootID: bootID, device: device, wantedBytes: wantedBytes,
            roots: roots, units: units)
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
}

/// The fields of a search root read so far.
private struct RootFields: StrictFields {
    var names: Set<String> = []
    var problem: String?
    private var path: [UInt8]?

    init() {}

    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        switch name {
        case "path", "pathBase64":
            guard path == nil else { throw refuse("has two paths") }
            path = try path(name, &scanner, mayBeTop: true)
        default: throw refuse("has an unknown field")
        }
    }

    mutating func whole() throws(JSONError) -> FilePath {
        guard let path else { throw refuse("has no path") }
        return FilePath(bytes: path)
    }
}

/// The fields of a unit read so far.
private struct UnitFields: StrictFields {
    var names: Set<String> = []
    var problem: String?
    private var path: [UInt8]?
    private var purgeClass: PurgeClass?
    private var isDirectory: Bool?
    private var device: UInt64?
    private var inode: UInt64?
    private var lastUse: FileTime?
    private var bytes: Int64?
    private var itemCount: Int64?
    private var size: Int64?
    private var times: [String: FileTime] = [:]

    init() {}

    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        switch name {
        case "path", "pathBase64":
            guard path == nil else { throw refuse("has two paths") }
            path = try path(name, &scanner)
        case "class":
            let name = try scanner.text()
            purgeClass = PurgeClass.allCases.first { $0.name == name }
            if purgeClass == nil { throw refuse("has an unknown class") }
        case "isDirectory": isDirectory = try scanner.bool()
        case "device": device = try scanner.unsigned()
        case "inode": inode = try scanner.unsigned()
        case "lastUse": lastUse = try time(&scanner)
        case "bytes": bytes = try amount(&scanner)
        case "itemCount": itemCount = try amount(&scanner)
        case "size": size = try amount(&scanner)
        case "contentModificationTime", "attributeModificationTime", "newestChange":
            times[name] = try time(&scanner)
        default: throw refuse("has an unknown field")
        }
    }

    mutating func whole() throws(JSONError) -> PurgeUnit {
        guard let path, let purgeClass, let isDirectory, let device, let inode, let lastUse,
            let bytes, let itemCount, itemCount >= 1, let size,
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
}

/// An object whose fields are read strictly: only known ones, each once.
protocol StrictFields {
    /// The type of the complete object.
    associatedtype Whole

    /// Creates an object with no field read.
    init()

    /// The names of the fields read so far.
    var names: Set<String> { get set }
    /// What is wrong with the object, in words; nil for errors of the JSON itself.
    var problem: String? { get set }

    /// Reads the value of a field.
    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError)

    /// Returns the complete object, once all fields were read.
    mutating func whole() throws(JSONError) -> Whole
}

extension StrictFields {
    /// Reads the next object.
    mutating func readWhole(_ scanner: inout JSONScanner) throws(JSONError) -> Whole {
        try scanner.forEachField { scanner, name throws(JSONError) in
            guard names.insert(name).inserted else { throw refuse("has the field \(name) twice") }
            try read(name, &scanner)
        }
        return try whole()
    }

    /// Reads the next array of objects.
    ///
    /// - Parameter noun: the noun for one of them in messages.
    mutating func elements<Fields: StrictFields>(
        _ scanner: inout JSONScanner, _ noun: String, _ type: Fields.Type
    ) throws(JSONError) -> [Fields.Whole] {
        guard try !scanner.takesNull() else { throw refuse("has null in place of an array") }
        var found: [Fields.Whole] = []
        try scanner.forEachElement { scanner throws(JSONError) in
            var fields = Fields()
            do throws(JSONError) {
                found.append(try fields.readWhole(&scanner))
            } catch {
                if let problem = fields.problem {
                    throw refuse("\(noun) \(found.count + 1) \(problem)")
                }
                throw error
            }
        }
        return found
    }

    /// Records what is wrong; the first problem is kept.
    ///
    /// - Returns: an error that ends the reading.
    mutating func refuse(_ problem: String) -> JSONError {
        self.problem = self.problem ?? problem
        return JSONError(offset: 0)
    }

    /// Reads a non-negative integer.
    mutating func amount(_ scanner: inout JSONScanner) throws(JSONError) -> Int64 {
        let amount = try scanner.integer()
        guard amount >= 0 else { throw refuse("has a negative amount") }
        return amount
    }

    /// Reads an RFC 3339 time.
    mutating func time(_ scanner: inout JSONScanner) throws(JSONError) -> FileTime {
        guard let time = FileTime(rfc3339: try scanner.string()) else {
            throw refuse("has an invalid time")
        }
        return time
    }

    /// Reads the value of a path field: an absolute path in canonical form.
    ///
    /// - Parameters:
    ///   - name: `path` or `pathBase64`.
    ///   - mayBeTop: whether `/` is accepted.
    /// - Returns: nil for a null `path`, which means that the path is in `pathBase64`.
    mutating func path(
        _ name: String, _ scanner: inout JSONScanner, mayBeTop: Bool = false
    ) throws(JSONError) -> [UInt8]? {
        let isText = name == "path"
        if isText, try scanner.takesNull() { return nil }
        let value = try scanner.string()
        guard let path = isText ? value : Base64.bytes(of: value) else {
            throw refuse("has a path that is not Base64")
        }
        guard (String(validating: path, as: UTF8.self) != nil) == isText else {
            throw refuse("has a path that belongs in \(isText ? "pathBase64" : "path")")
        }
        if mayBeTop, path == [UInt8(ascii: "/")] { return path }
        let names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let dot = UInt8(ascii: ".")
        guard names.count >= 2, names[0].isEmpty, !path.contains(0),
            names.dropFirst().allSatisfy({ !$0.isEmpty && $0 != [dot] && $0 != [dot, dot] })
        else { throw refuse("has a path that is not absolute, or contains '.', '..' or '//'") }
        return path
    }
}
