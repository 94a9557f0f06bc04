#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls
import SystemPackage

/// A request as text, in a variable of the service's environment: it tells the program that is
/// started which task is due, and a program that asks which requests are pending.
///
/// The text has only characters that neither the service manager nor its tools quote or expand.
struct TaskRecord: Hashable, Sendable {
    enum Kind: String, Sendable {
        case refresh
        case processing
    }

    static let variable = "RESVAL_BACKGROUND_TASK"

    var kind: Kind
    var identifier: String
    /// In whole seconds since 1970.
    var earliestBegin: Int64?
    var needsNetwork = false
    var needsPower = false
    /// In seconds.
    var runLimit: Int64

    init(_ request: BGTaskRequest) {
        identifier = request.identifier
        // The first whole second that is not before the date.
        earliestBegin = request.earliestBeginDate.map {
            Self.seconds($0.timeIntervalSince1970.rounded(.up))
        }
        runLimit = max(1, Self.seconds(request.runLimit.rounded(.up)))
        if let request = request as? BGProcessingTaskRequest {
            kind = .processing
            needsNetwork = request.requiresNetworkConnectivity
            needsPower = request.requiresExternalPower
        } else {
            kind = .refresh
        }
    }

    /// Parses a record; nil for anything else than what ``text`` writes.
    init?(text: some StringProtocol) {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 6, let kind = Kind(rawValue: String(fields[0])),
            let runLimit = Int64(fields[1]), runLimit > 0,
            fields[2].isEmpty || Int64(fields[2]) != nil,
            let bytes = Base64.bytes(of: Array(fields[5].utf8)),
            let identifier = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.kind = kind
        self.identifier = identifier
        self.runLimit = runLimit
        earliestBegin = Int64(fields[2])
        needsNetwork = fields[3] == "network"
        needsPower = fields[4] == "power"
        guard self.text == text else { return nil }
    }

    var text: String {
        var encoded: [UInt8] = []
        Base64.append(Array(identifier.utf8), to: &encoded)
        return [
            kind.rawValue, String(runLimit), earliestBegin.map(String.init) ?? "",
            needsNetwork ? "network" : "", needsPower ? "power" : "",
            String(decoding: encoded, as: UTF8.self),
        ].joined(separator: ",")
    }

    /// The request that the record describes.
    var request: BGTaskRequest {
        let request: BGTaskRequest
        switch kind {
        case .refresh: request = BGAppRefreshTaskRequest(identifier: identifier)
        case .processing:
            let processing = BGProcessingTaskRequest(identifier: identifier)
            processing.requiresNetworkConnectivity = needsNetwork
            processing.requiresExternalPower = needsPower
            request = processing
        }
        request.earliestBeginDate = earliestBegin.map {
            Date(timeIntervalSince1970: TimeInterval($0))
        }
        request.runLimit = TimeInterval(runLimit)
        return request
    }

    /// Converts seconds; what is not a number, or out of range, becomes the nearest that is.
    private static func seconds(_ interval: TimeInterval) -> Int64 {
        // The year 9999: systemd refuses later ones.
        interval.isNaN ? 0 : Int64(min(max(interval, 0), 253_402_300_799))
    }
}

/// The names of the timer and the service of one submitted request:
/// `bgtask-PROGRAM-IDENTIFIER-NUMBER`, where PROGRAM is ``ThisProgram/name``.
///
/// Program and identifier are escaped as by `systemd-escape(1)`, which leaves no `-` in them, so a
/// name is taken apart in one way only. The number differs in each request: a task that is running
/// can submit the next request under the same identifier.
struct TaskUnit: Hashable, Sendable {
    /// The name without its type.
    let name: String

    var timer: String { name + ".timer" }
    var service: String { name + ".service" }

    /// Creates the names.
    ///
    /// - Returns: nil for an empty identifier, and for one that makes a longer name than units have.
    init?(program: [UInt8], identifier: String, number: UInt64) {
        let digits = String(number, radix: 16)
        let padding = String(repeating: "0", count: 16 - digits.count)
        name = Self.prefix(of: program, identifier) + padding + digits
        guard !identifier.isEmpty, service.utf8.count <= Self.longestName else { return nil }
    }

    /// Accepts the name of a timer or a service; nil for one that is not of a program's task.
    init?(unit: String, program: [UInt8]) {
        guard let dot = unit.lastIndex(of: ".") else { return nil }
        name = String(unit[..<dot])
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "bgtask", parts[1] == Self.escaped(program) else {
            return nil
        }
    }

    /// Whether the unit is of a request with this identifier.
    func isOf(program: [UInt8], identifier: String) -> Bool {
        name.hasPrefix(Self.prefix(of: program, identifier))
    }

    private static func prefix(of program: [UInt8], _ identifier: String) -> String {
        "bgtask-\(escaped(program))-\(escaped(Array(identifier.utf8)))-"
    }

    /// UNIT_NAME_MAX of systemd, without the NUL.
    private static let longestName = 255

    /// Returns bytes as `systemd-escape(1)` prints them: letters, digits, `:`, `_` and `.` stay, `/`
    /// becomes `-`, and all other bytes, with a `.` in front, become `\xXX`.
    ///
    /// A `/` becomes `\x2f` here: nothing else may look like the `-` between two parts.
    static func escaped(_ bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where index > 0: text += "."
            default: text += #"\x"# + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return text
    }
}
#endif
