import BackupEngines
import BackupPlanning
import CommandSupport
import SystemCalls

/// Returns a callback that shows what an engine reports.
///
/// - Parameter totals: what is stored altogether, where it is known before the engine has found it.
func reporter(
    _ display: Progress, _ totals: PlanTotals? = nil
) -> @Sendable (BackupProgress) -> Void {
    let shown = Monitor<BackupProgress.Step?>(nil)
    return { progress in
        let isNew = shown.withLock { shown in
            defer { shown = progress.step }
            return shown != progress.step
        }
        if isNew { display.begin(counting: progress.step.noun) }
        let bytes = totals?.storedBytes ?? progress.bytesTotal
        display.set(
            done: Int(clamping: progress.filesDone),
            total: totals.map { Int($0.storedFiles) } ?? Int(clamping: progress.filesTotal),
            bytes: progress.bytesDone, totalBytes: bytes > 0 ? bytes : nil)
    }
}

extension BackupProgress.Step {
    /// What is counted, in the plural.
    fileprivate var noun: StaticString {
        switch self {
        case .filesStored: "files stored"
        case .filesRead: "files read"
        case .filesEvicted: "files evicted"
        case .filesDownloaded: "files downloaded"
        case .snapshotsChecked: "snapshots checked"
        case .packsRead: "packs"
        case .others: "steps"
        }
    }
}
