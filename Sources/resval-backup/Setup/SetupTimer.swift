import Backups
import SystemCalls
import SystemPackage

/// The systemd units of a configuration, and their manager: that of the user or, for a configuration of the
/// machine, the system's.
struct SetupTimer {
    private let isSystem: Bool
    /// Whether the settings name commands, which need a unit with more rights.
    private let hasCommands: Bool

    init(_ settings: BackupSettings, isSystem: Bool) {
        (self.isSystem, hasCommands) = (isSystem, !settings.commands.isEmpty)
    }

    /// The name of both units, without their types.
    var unit: String {
        guard isSystem else { return "resval-backup" }
        return hasCommands ? "resval-backup-commands@backup" : "resval-backup-system@backup"
    }

    private var scope: [String] { isSystem ? [] : ["--user"] }

    /// The command that shows what the service wrote.
    var journal: String {
        "journalctl " + (isSystem ? "--unit " : "--user-unit ") + unit
    }

    /// Why the timer cannot be used; nil where it can.
    var obstacle: String? {
        guard control("show", "--property=Version") else {
            let options = isSystem ? " --config /etc/resval/backup.toml" : ""
            return "there is no systemd that keeps the timer of "
                + (isSystem ? "this machine" : "this user")
                + " (use cron: resval-backup run --if-due\(options), every hour; then: resval-backup "
                + "setup\(isSystem ? " --system" : "") --no-timer)"
        }
        guard control("cat", "\(unit).timer") else {
            return "the units are not installed (install them: scripts/install "
                + (isSystem ? "--system)" : "--user)")
        }
        return nil
    }

    var isEnabled: Bool {
        control("is-enabled", "\(unit).timer") && control("is-active", "\(unit).timer")
    }

    /// Enables the timer, and starts the service as it would.
    ///
    /// - Returns: whether the service did what it should.
    func enableAndRun() -> Bool {
        control("daemon-reload") && control("enable", "--now", "\(unit).timer", isShown: true)
            && control("start", "\(unit).service", isShown: true)
    }

    func enablePurge() -> Bool {
        control("enable", "--now", isSystem ? "resval-purge@root" : "resval-purge", isShown: true)
    }

    /// Whether the units run while the user is not logged in.
    var lingers: Bool {
        guard !isSystem else { return true }
        guard let name = runOutput("id", ["--user", "--name"])?.first else { return false }
        return (try? itemExists(FilePath("/var/lib/systemd/linger").appending(name))) == true
    }

    let onlyWhileLoggedIn =
        "backups are made only while you are logged in (always: resval-backup setup --linger)"

    func linger() { _ = run("loginctl", ["enable-linger"], isShown: true) }

    private func control(_ words: String..., isShown: Bool = false) -> Bool {
        run("systemctl", scope + words, isShown: isShown)
    }

    /// Other backups that a timer or cron starts, each in a line.
    static func others() -> [String] {
        let timers = [[], ["--user"]].flatMap { scope in
            runOutput("systemctl", scope + ["list-timers", "--all", "--plain", "--no-legend"]) ?? []
        }
        let lines =
            timers.compactMap { $0.split(separator: " ").first { $0.hasSuffix(".timer") } }
            .map(String.init) + (runOutput("crontab", ["-l"]) ?? [])
        let words = /backup|borg|restic|duplic|kopia|rsnapshot|rsync|timeshift|snapper|deja/
        return lines.filter {
            !$0.hasPrefix("#") && !$0.contains("resval-") && $0.lowercased().contains(words)
        }
    }
}

/// Runs a program to its end; false where it is not there or fails.
private func run(_ name: String, _ arguments: [String], isShown: Bool) -> Bool {
    guard let program = findProgram(name) else { return false }
    let output: FileDescriptor? = isShown ? .standardError : nil
    do throws(Errno) {
        return try waitForProgram(
            startProgram(
                program, arguments.map { Array($0.utf8) }, output: output, messages: output)) == 0
    } catch {
        return false
    }
}

/// Returns the lines that a program prints; nil where it is not there or fails.
private func runOutput(_ name: String, _ arguments: [String]) -> [String]? {
    guard let program = findProgram(name),
        let directory = try? OwnedDescriptor(openDirectoryReference("/"))
    else { return nil }
    var output: [UInt8] = []
    let end = try? runProgram(
        program, arguments.map { Array($0.utf8) }, environment: inheritedEnvironment(),
        in: directory.descriptor, within: .seconds(10)
    ) { if output.count < 1 << 20 { output += $0 } }
    guard end == 0 else { return nil }
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
}
