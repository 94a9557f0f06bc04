import ResourceValues
import SystemCalls
import TextFormats

/// What the status file tells other programs about the daily backup.
package struct RunStatus: Sendable, Hashable {
    /// How the last run ended.
    package var result = RunResult.running
    /// What the last run did last, or failed at; nil before its first step.
    package var step: BackupStep.Kind?
    /// The exit code; nil while running.
    package var exitCode: Int32?
    /// The number of the process that runs or ran.
    package var process: Int32
    /// When the run began.
    package var start: FileTime
    /// When it ended; nil while running.
    package var end: FileTime?
    /// The snapshot that was made; nil when none was.
    package var snapshot: SnapshotSummary?
    /// When a run last ended with everything done.
    package var lastCleanRun: FileTime?
    /// When the repository was last found to be good.
    package var lastVerify: FileTime?
    /// When data that no snapshot needs was last removed.
    package var lastPrune: FileTime?

    /// When the last run made a snapshot of all it could, as far as this status tells; nil when it did
    /// not.
    ///
    /// For a run under way that is what the runs before it did.
    package var lastBackup: FileTime? {
        switch result {
        case .ok, .incomplete: end
        case .running: lastCleanRun
        default: nil
        }
    }

    /// How old the last backup is.
    ///
    /// - Parameters:
    ///   - age: the age, in seconds, from which on it is stale; nil for none.
    ///   - now: the time. A backup from the future has no known age, and is stale, too: the clock was
    ///     set, and how long ago the backup was made cannot be told.
    package func isStale(after age: Int64?, now: FileTime) -> Bool {
        guard let age, let lastBackup else { return false }
        let seconds = now.seconds.subtractingSaturating(lastBackup.seconds)
        // Clocks are corrected by moments all the time.
        return seconds >= age || seconds < -3600
    }

    /// Begins a run after another.
    package init(process: Int32, start: FileTime, after previous: RunStatus?) {
        self.process = process
        self.start = start
        lastCleanRun = previous?.lastCleanRun
        lastVerify = previous?.lastVerify
        lastPrune = previous?.lastPrune
    }

    /// The status as a line of JSON, with a newline.
    package var line: [UInt8] { line(isStale: nil) }

    /// The status as a line of JSON, with a newline.
    ///
    /// - Parameter isStale: whether the last backup is too old to rely on; nil says nothing of it.
    package func line(isStale: Bool?) -> [UInt8] {
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
        line.add("leftOutItems", snapshot?.leftOutItems)
        line.add("lastCleanRun", lastCleanRun)
        line.add("lastVerify", lastVerify)
        line.add("lastPrune", lastPrune)
        return line.ended()
    }
}

/// What `create --json` tells about a snapshot.
package struct SnapshotSummary: Sendable, Hashable {
    /// The snapshot's identifier.
    package var identifier: String
    /// How many items it holds.
    package var items: Int64 = 0
    /// Their bytes.
    package var bytes: Int64 = 0
    /// How many bytes the repository grew by.
    package var addedBytes: Int64 = 0
    /// How many items were left out.
    package var leftOutItems: Int64 = 0
    /// Whether retention may follow; the status does not tell.
    package var allowsForget = false

    /// Creates a summary.
    package init(
        identifier: String, items: Int64 = 0, bytes: Int64 = 0, addedBytes: Int64 = 0,
        leftOutItems: Int64 = 0
    ) {
        self.identifier = identifier
        self.items = items
        self.bytes = bytes
        self.addedBytes = addedBytes
        self.leftOutItems = leftOutItems
    }
}
