#if !canImport(Darwin)
import SystemCalls
import SystemPackage

/// How a service manager starts this program again: the arguments of `systemd-run(1)` for a request.
struct TaskStart {
    /// The program's file, as an absolute path.
    var program: FilePath
    /// The program's arguments, without its name.
    var arguments: [[UInt8]]
    /// The directory that the arguments may be relative to.
    var directory: FilePath
    /// The file of `systemctl(1)`.
    var systemctl: FilePath
    /// The file of `grep(1)`.
    var grep: FilePath
    /// The option that chooses the manager: `--user` or `--system`.
    var manager: String

    /// The time between two examinations of what a request requires.
    static let patience = "5min"

    /// What the service manager allows a task beyond its limit, in seconds, until it kills it.
    static let graceAfterLimit: Int64 = 10

    /// The end of the year 2199, beyond which systemd knows no date.
    static let lastDate: Int64 = 7_258_118_399

    /// Lines of `/proc/net/route` and `/proc/net/ipv6_route` with a default route that is up
    /// (`RTF_UP`) and does not refuse (`RTF_REJECT`). Without white space, so that it is one word.
    static let defaultRoute =
        "^([^[:space:]]+[[:space:]]0{8}[[:space:]][0-9A-F]{8}[[:space:]]"
        + "[0-9A-F][014589CD][0-9A-F][13579BDF][[:space:]]([0-9]+[[:space:]]){3}0{8}[[:space:]]"
        + "|0{32}[[:space:]]00[[:space:]][0-9a-f]{32}[[:space:]]00[[:space:]][0-9a-f]{32}"
        + "([[:space:]][0-9a-f]{8}){3}[[:space:]][0-9a-f]{5}[014589cd][0-9a-f][13579bdf][[:space:]])"

    /// Why the service manager would not start the same program with the same arguments in the same
    /// directory; nil if it would.
    ///
    /// It accepts more than it keeps: as soon as it reads its units again, what it has written into
    /// them counts. The directory is written as it is: a newline would begin a line of the unit's own,
    /// spaces at the end are lost, and a `\` there continues the line. The escapes in a program's path
    /// are not undone, nor are those of `$` and `;` in any word, so `$$` does not stand for a `$`.
    var obstacle: String? {
        let programs = [program, systemctl, grep].map(\.bytes)
        let words = programs + arguments
        guard
            (words + [directory.bytes]).allSatisfy({ String(validating: $0, as: UTF8.self) != nil })
        else { return "a path or an argument is not UTF-8, which systemd refuses" }
        let end = directory.bytes.suffix(1)
        if directory.bytes.contains(where: Self.isControl) || Self.has(" \\", in: end) {
            return
                "the working directory's path has a control character, or ends in a space or a '\\', "
                + "which systemd would not keep"
        }
        if programs.contains(where: {
            $0.contains(where: Self.isControl) || Self.has("'\"\\", in: $0)
        }) {
            return "the program's path has a control character, a quotation mark or a '\\', "
                + "which systemd would not keep"
        }
        if words.contains(where: { Self.has("$;", in: $0) }) {
            return
                "the program's path or an argument has a '$' or a ';', which systemd would change"
        }
        return nil
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    private static func has(_ characters: String, in bytes: some Sequence<UInt8>) -> Bool {
        bytes.contains { characters.utf8.contains($0) }
    }

    /// Returns the arguments that make a timer and the service that it starts.
    ///
    /// - Parameter now: in seconds since 1970; a timer for a time that has passed would never elapse.
    func arguments(for record: TaskRecord, as unit: TaskUnit, now: Int64) -> [[UInt8]] {
        // Escaped, since the manager writes the description into a file of lines.
        let identifier = TaskUnit.escaped(Array(record.identifier.utf8))
        var options = [
            manager, "--quiet", "--collect", "--no-ask-password", "--unit=" + unit.service,
            "--description=Background task \(identifier)",
            "--timer-property=AccuracySec=1s",
            "--property=RuntimeMaxSec=\(record.runLimit + Self.graceAfterLimit)",
            "--setenv=\(TaskRecord.variable)=\(record.text)",
        ]
        if let begin = record.earliestBegin, begin > now + 1 {
            options.append("--on-calendar=@\(min(begin, Self.lastDate))")
        } else {
            let delay = max(0, (record.earliestBegin ?? now) - now)
            options.append("--on-active=\(delay)")
        }
        if record.needsNetwork || record.needsPower {
            // Until a run begins, which ends the timer. The timer of any other request elapses once.
            options.append("--timer-property=OnUnitInactiveSec=" + Self.patience)
            options.append(
                "--property=ExecStartPre=" + quoted(systemctl.string) + " \(manager) stop "
                    + quoted(unit.timer))
        }
        if record.needsPower { options.append("--property=ConditionACPower=true") }
        if record.needsNetwork {
            options.append(
                "--property=ExecCondition=" + quoted(grep.string) + " -E -s -q "
                    + quoted(Self.defaultRoute) + " /proc/net/route /proc/net/ipv6_route")
        }
        let bytes = options.map { Array($0.utf8) }
        return bytes + [Array("--working-directory=".utf8) + directory.bytes, Array("--".utf8)]
            + [program.bytes] + arguments
    }

    /// Returns a word as command lines of units have it.
    private func quoted(_ word: String) -> String {
        let escaped = word.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }
        return "\"\(escaped.joined())\""
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
        let digits = String(number, radix: 16).padded(to: 16, with: "0")
        name = Self.prefix(of: program, identifier) + digits
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

    func isOf(program: [UInt8], identifier: String) -> Bool {
        name.hasPrefix(Self.prefix(of: program, identifier))
    }

    private static func prefix(of program: [UInt8], _ identifier: String) -> String {
        "bgtask-\(escaped(program))-\(escaped(Array(identifier.utf8)))-"
    }

    /// UNIT_NAME_MAX of systemd, without the NUL.
    private static let longestName = 255

    /// Returns bytes as `systemd-escape(1)` prints them: letters, digits, `:`, `_` and `.` stay, `/`
    /// becomes `-`, and all other bytes, with a `.` in front, become `\xHH`.
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
