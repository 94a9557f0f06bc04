import ArgumentParser
import Backups
import CommandSupport
import SystemCalls
import SystemPackage

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how the last resval-backup run went.",
        discussion: """
            Exits with 0 when the last run did all it could; with 3 when its snapshot lacks something, \
            as long as it covers less than an earlier one for another reason than that the owner \
            excluded it, or while forget removes nothing, for the reason that a line says; else with 1, also when there was no run, and when the last backup is stale: as old as \
            stale-after in the configuration file says, 3d without it, or from the future. While a \
            run is under way, the one before it counts.

            What no backup can read, such as another user's file, is only a line from the second \
            run on that lacks it; so is a file that was evicted into another repository, while an \
            earlier snapshot has it or once that is accepted.

            EXAMPLES
              resval-backup status || notify-send 'The backup needs attention'
            """)

    @OptionGroup var configuration: ConfigurationOption

    @Flag(help: "Print the status as a JSON object: see resval-json(5).")
    var json = false

    func run() throws {
        // Without a configuration, the default age counts; nil when no backup is ever stale.
        let settings = try configuration.settingsIfAny() ?? BackupSettings()
        guard let directory = try configuration.stateDirectory(),
            let status = try RunStatus.read(in: directory)
        else {
            Messages.write("there was no run yet (begin with: resval-backup setup)")
            throw ExitCode(1)
        }
        let isUnderWay = try status.result == .running && RunLock.isHeld(in: directory)
        let isStale = status.isStale(after: settings.staleAfter, now: FileTime.now)
        if json {
            StandardOutput.shared.write(status.line(isStale: isStale))
        } else {
            write(status, isUnderWay: isUnderWay)
        }
        if isStale { reportStaleness(of: status) }
        var code = (isUnderWay ? status.previousResult ?? .failed : status.result).statusCode
        if code == 0, status.coversLess || status.forgetObstacle != nil { code = 3 }
        if isStale || code != 0 { throw ExitCode(isStale ? 1 : code) }
    }

    private func reportStaleness(of status: RunStatus) {
        guard let time = status.lastBackup else {
            return Messages.write("there is no backup yet, and it waits too long")
        }
        let isFromFuture = time.seconds > FileTime.now.seconds
        Messages.write(
            isFromFuture
                ? "the last backup, of \(time.localText), is from the future (set the clock, then: "
                    + "resval-backup run)"
                : "the last backup, of \(time.localText), is stale (check the timer: "
                    + "systemctl --user list-timers resval-backup.timer; then: resval-backup run)")
    }

    private func write(_ status: RunStatus, isUnderWay: Bool) {
        var buffer = OutputBuffer()
        let step = status.step.map { " at \($0.rawValue)" } ?? ""
        switch status.result {
        case .running where isUnderWay:
            buffer.append(text: "running\(step), process \(status.process)\n")
        case .running:
            buffer.append(text: "interrupted\(step): the process died\n")
        case let result:
            let place = result.isFailure || result == .interrupted ? step : ""
            buffer.append(text: "\(result.text)\(place)\n")
        }
        if let failure = status.failure {
            buffer.append("error: ")
            if let path = failure.path {
                buffer.append(name: path)
                buffer.append(": ")
            }
            let advice = failure.advice.map { " (\($0))" } ?? ""
            buffer.append(name: Array("\(failure.text)\(advice)".utf8))
            buffer.append("\n")
        }
        if status.result != .waiting { add("start", status.start, to: &buffer) }
        add("end", status.end, to: &buffer)
        if let snapshot = status.snapshot {
            let items = counted(snapshot.items, "item")
            buffer.append(text: "snapshot: \(snapshot.identifier.prefix(8)), \(items), ")
            buffer.append(
                text: "\(sizeText(snapshot.bytes)), \(snapshot.excludedItems) excluded\n")
        }
        if let since = status.waitingSince {
            buffer.append(text: "waiting since \(since.localText): \(status.waitingFor ?? "")\n")
        }
        let held = Set(status.holds.compactMap(\.path))
        for shortfall in status.shortfalls
        where shortfall.isElsewhere || !held.contains(shortfall.path) {
            buffer.append(
                line: "lacking since \(shortfall.since.localText): "
                    + "\(NameEscaping.text(shortfall.path)): "
                    + NameEscaping.text(Array(shortfall.sentence.utf8)))
        }
        for hold in status.holds { buffer.append(line: "held: \(hold.text)") }
        if let obstacle = status.forgetObstacle {
            buffer.append(line: "forget: \(NameEscaping.text(Array(obstacle.utf8)))")
        }
        if status.coversLess {
            let options = configuration.config.map { " --config \(ShellWord.quoted($0.bytes))" }
            buffer.append(text: "if that is right: resval-backup accept\(options ?? "")\n")
        }
        add("last clean run", status.lastCleanRun, to: &buffer)
        add("last verified", status.lastVerify, to: &buffer)
        add("last pruned", status.lastPrune, to: &buffer)
        buffer.flush()
    }

    private func add(_ name: String, _ time: FileTime?, to buffer: inout OutputBuffer) {
        guard let time else { return }
        buffer.append(text: "\(name): \(time.localText)\n")
    }
}
