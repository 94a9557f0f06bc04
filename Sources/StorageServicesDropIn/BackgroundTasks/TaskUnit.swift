#if !canImport(Darwin)
import SystemCalls
import SystemPackage

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
