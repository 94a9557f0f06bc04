import BackupEngines
import BackupPlanning
import EffectiveValues
import SystemCalls

// The records of which files are stored as they are, for programs that ask before they evict one:
// `ubiquitousItemIsUploaded` of ResourceValuesFoundation.

/// Records which files a new snapshot contains.
///
/// Failures are not reported: the earlier record then stays, and so does the snapshot that it is about.
func recordStoredFiles(
    _ result: BackupResult, of plan: BackupPlan, in engine: any BackupEngine
) async {
    guard let records = stateHome().map({ StoredFileRecords(stateHome: $0) }) else { return }
    var identifier = result.snapshot
    if !result.isComplete && !plan.isIncomplete {
        // It was tagged as incomplete, and may have another identifier since.
        guard let tagged = try? await engine.snapshot(.identifier(identifier)) else { return }
        identifier = tagged.identifier
    }
    try? records.replace(
        engine.repository.fingerprint, SourceTags(plan.sources).fingerprint,
        with: result.storedFiles,
        of: StoredFileRecords.Snapshot(
            identifier: identifier, file: engine.file(ofSnapshot: identifier)))
}

/// Removes the records of snapshots before these are removed.
///
/// - Parameter kept: the identifiers of snapshots that stay. Records of others are removed, too: a
///   snapshot has another identifier since its tags were changed, and other SOURCEs are recorded
///   again with their next snapshot.
/// - Throws: `FileError` when a record may be left.
func forgetStoredFiles(
    in engine: any BackupEngine, except kept: Set<String>
) throws(FileError) {
    guard let state = stateHome() else { return }
    try StoredFileRecords(stateHome: state).remove(engine.repository.fingerprint, except: kept)
}
