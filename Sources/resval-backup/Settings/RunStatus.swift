import ResourceValues
import SystemCalls
import TextFormats

/// The status of the daily backup, as the status file reports it to other programs.
struct RunStatus: Sendable, Hashable {
    /// How the last run ended.
    var result = RunResult.running
    /// The last step that the run began; nil before its first step.
    var step: RunStep?
    /// The exit code; nil while running.
    var exitCode: Int32?
    /// The pid of the run's process.
    var process: Int32
    /// When the run began.
    var start: FileTime
    /// When the run ended; nil while running.
    var end: FileTime?
    /// The snapshot that was made; nil when none was.
    var snapshot: SnapshotSummary?
    /// When a run last ended with everything done.
    var lastCleanRun: FileTime?
    /// When the repository was last found to be intact.
    var lastVerify: FileTime?
    /// When data that no snapshot needs was last removed.
    var lastPrune: FileTime?

    /// When the last run made a snapshot of all it could, as far as this status shows; nil when it
    /// did not.
    ///
    /// While a run is in progress, this is the last time that a run ended with everything done.
    var lastBackup: FileTime? {
        switch result {
        case .ok, .coversLess, .incomplete: end
        case .running: lastCleanRun
        default: nil
        }
    }

    /// Whether the last backup is too old to rely on.
    ///
    /// - Parameters:
    ///   - age: the age, in seconds, at which a backup is stale; nil when none ever is.
    ///   - now: the current time. A backup from the future is stale too: the clock was set, so the
    ///     backup's age is unknown.
    func isStale(after age: Int64?, now: FileTime) -> Bool {
        guard let age, let lastBackup else { return false }
        let seconds = now.seconds.subtractingSaturating(lastBackup.seconds)
        // Small corrections of the clock are normal.
        return seconds >= age || seconds < -3600
    }

    /// Creates the status of a run that begins, with the times of the previous one.
    init(process: Int32, start: FileTime, after previous: RunStatus?) {
        self.process = process
        self.start = start
        lastCleanRun = previous?.lastCleanRun
        lastVerify = previous?.lastVerify
        lastPrune = previous?.lastPrune
    }

    /// Returns the status as a line of JSON, which is also the status file.
    ///
    /// - Parameter isStale: whether the last backup is too old to rely on; nil omits the field.
    func line(isStale: Bool?) -> [UInt8] {
        var line = JSONLine()
        line.add("version", 1)
        if let isStale { line.add("isStale", isStale) }
        line.add("result", result.rawValue)
        line.add("step", step?.rawValue)
        line.add("exitCode", exitCode)
        line.add("process", process)
        line.add("start", start)
        line.add("end", end)
        line.add("snapshot", snapshot?.identifier)
        line.add("items", snapshot?.items)
        line.add("bytes", snapshot?.bytes)
        line.add("addedBytes", snapshot?.addedBytes)
        line.add("excludedItems", snapshot?.excludedItems)
        line.add(holds: snapshot?.holds ?? [])
        line.add("lastCleanRun", lastCleanRun)
        line.add("lastVerify", lastVerify)
        line.add("lastPrune", lastPrune)
        return line.ended()
    }
}

/// The steps of a run, named after the commands that do the same.
enum RunStep: String, Sendable, Hashable {
    case create, forget, prune, verify
}

/// The facts about a new snapshot that a run reports.
struct SnapshotSummary: Sendable, Hashable {
    /// The snapshot's identifier.
    var identifier: String
    /// The number of items in it.
    var items: Int64 = 0
    /// The bytes of these items.
    var bytes: Int64 = 0
    /// The number of bytes by which the repository grew.
    var addedBytes: Int64 = 0
    /// The number of excluded items.
    var excludedItems: Int64 = 0
    /// What it lacks and earlier ones are kept for.
    var holds: [HeldPart] = []
    /// Whether it lacks nothing that the sources have; not part of the status file.
    var isWhole = false
    /// Whether it covers no less than the one before, but for what the owner excluded; not part of the
    /// status file.
    var coversAll = true

    /// The exit code of `create`.
    var exitCode: Int32 { isWhole && coversAll ? 0 : 3 }

    /// The line that `create` and `run` print.
    var text: String {
        "snapshot \(identifier.prefix(8)): \(counted(items, "item")), \(sizeText(bytes)); "
            + "\(excludedItems) excluded; the repository grew by \(sizeText(addedBytes))\n"
    }
}

/// How a run of the daily backup ended.
enum RunResult: String, Sendable, Hashable, CaseIterable {
    /// A run is in progress, or was killed.
    case running
    /// Everything was done.
    case ok
    /// A snapshot was made of all there is, but it covers less than the one before.
    case coversLess
    /// A snapshot was made, but it lacks something.
    case incomplete
    /// Something failed.
    case failed
    /// There is no repository.
    case noRepository
    /// Another process uses the repository.
    case locked
    /// The password is wrong.
    case wrongPassword
    /// A signal ended the run.
    case interrupted

    /// Creates the result that an exit code stands for.
    ///
    /// - Parameter isWhole: whether a snapshot was made that lacks nothing.
    init(exitCode: Int32, isWhole: Bool) {
        switch exitCode {
        case 0: self = .ok
        case 3: self = isWhole ? .coversLess : .incomplete
        case 10: self = .noRepository
        case 11: self = .locked
        case 12: self = .wrongPassword
        case 130, 143: self = .interrupted
        default: self = .failed
        }
    }

    /// The exit code of `status` after such a run: 0 for `ok`, 3 for `coversLess` and
    /// `incomplete`, otherwise 1.
    var statusCode: Int32 {
        switch self {
        case .ok: 0
        case .coversLess, .incomplete: 3
        default: 1
        }
    }
}
