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
    var files: [StoredFileState] = []
    swap(&files, &result.storedFiles)
    guard let records = stateHome().map({ StoredFileRecords(stateHome: $0) }) else { return }
    let identifier = result.summary.snapshot
    try? records.replace(
        engine.repository.fingerprint, SourceTags(plan.sources).fingerprint,
        with: consume files,
        of: StoredFileRecords.Snapshot(
            identifier: identifier, file: engine.file(ofSnapshot: identifier)))
}

/// Notes that a snapshot got another identifier. Where that fails, its files are not known to be stored.
func renewStoredFiles(in engine: Restic, of before: String, as after: String) {
    guard let records = stateHome().map({ StoredFileRecords(stateHome: $0) }) else { return }
    records.renew(
        engine.repository.fingerprint, of: before,
        as: StoredFileRecords.Snapshot(identifier: after, file: engine.file(ofSnapshot: after)))
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
