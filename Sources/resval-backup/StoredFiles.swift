import BackupPlanning
import Backups
import CommandSupport
import EffectiveValues
import SystemCalls

// The records of which files are stored as they are, for programs that ask before they evict one:
// `ubiquitousItemIsUploaded` of ResourceValuesFoundation.

/// Records which files a new snapshot contains.
///
/// Failures are not reported: the earlier record then stays, and so does the snapshot that it is about.
///
/// - Parameter result: is left without the list of files, which can be large.
func recordStoredFiles(
    _ result: inout BackupResult, of plan: BackupPlan, in engine: Restic
) {
    var files: [UInt64] = []
    swap(&files, &result.storedFiles)
    guard let state = stateHome() else { return }
    try? StoredFileRecords(stateHome: state).replace(
        engine.repository.fingerprint, SourceTags(plan.sources).fingerprint,
        of: result.summary.snapshot,
        in: engine.snapshotsDirectory, with: consume files)
}

/// Removes the records of snapshots before these are removed.
///
/// - Parameter kept: the identifiers of snapshots that stay. Records of others are removed, too: a
///   snapshot has another identifier since its tags were changed, and other SOURCEs are recorded
///   again with their next snapshot.
/// - Throws: `FileError` when a record may be left that this user's programs trust, now or once
///   permissions are changed. Where the state directory belongs to another user or is none, there is
///   a warning.
func forgetStoredFiles(
    in engine: Restic, except kept: Set<String>
) throws(FileError) {
    guard let state = stateHome() else { return }
    let records = StoredFileRecords(stateHome: state)
    do throws(FileError) {
        try records.remove(engine.repository.fingerprint, except: kept)
    } catch {
        guard isStateOfAnother(records.directory) else { throw error }
        Messages.warn(
            about: error.path?.bytes,
            "the records of which files the removed snapshots contain stay, if there are any: "
                + error.description)
    }
}
