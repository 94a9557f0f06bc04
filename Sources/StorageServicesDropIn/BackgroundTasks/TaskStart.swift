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

    /// Whether the service manager passes the program's path and arguments on as they are.
    ///
    /// It expands a `$`. `$$` stands for one only until the manager reads its units again: systemd
    /// 252 escapes it a second time in the file it keeps.
    var isPassedOn: Bool {
        !([program.bytes] + arguments).contains { $0.contains(UInt8(ascii: "$")) }
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
        var text = "\""
        for character in word.unicodeScalars {
            switch character {
            case "\\", "\"": text += "\\\(character)"
            default: text.unicodeScalars.append(character)
            }
        }
        return text + "\""
    }
}
#endif
