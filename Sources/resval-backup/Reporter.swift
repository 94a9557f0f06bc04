import BackupEngines
import BackupPlanning
import CommandSupport

/// Returns a callback that shows what an engine reports; nil shows nothing.
func reporter(_ display: Progress?) -> @Sendable (BackupProgress) -> Void {
    { progress in
        display?.set(
            progress.step.noun,
            done: progress.step.countsItems ? Int(clamping: progress.filesDone) : nil,
            total: progress.filesTotal > 0 ? Int(clamping: progress.filesTotal) : nil,
            bytes: progress.bytesDone,
            totalBytes: progress.bytesTotal > 0 ? progress.bytesTotal : nil)
    }
}

extension BackupProgress.Step {
    /// Whether items are counted, not only bytes.
    fileprivate var countsItems: Bool { self != .contentRestored }

    /// What is counted, in the plural.
    fileprivate var noun: StaticString {
        switch self {
        case .filesStored: "files stored"
        case .filesRead: "files read"
        case .filesEvicted: "files evicted"
        case .filesDownloaded: "files downloaded"
        case .itemsCompared: "items compared"
        case .itemsListed: "items listed"
        case .contentRestored: "content restored"
        case .snapshotsChecked: "snapshots checked"
        case .packsRead: "packs"
        case .others: "steps"
        }
    }
}
