import BackupEngines
import BackupPlanning
import EffectiveValues
import SystemCalls

// The records of which files are stored as they are, for programs that ask before they evict one:
// `ubiquitousItemIsUploaded` of ResourceValuesFoundation.

/// Records which files a new snapshot contains.
///
/// Failures are not reported: without a record a program is told nothing about a file, as before its
/// first backup.
func recordStoredFiles(
    _ result: BackupResult, of plan: BackupPlan, in engine: any BackupEngine
) async {
    guard let records = stateHome().map({ StoredFileRecords(stateHome: $0) }) else { return }
    let repository = engine.repository.fingerprint
    do {
        // What turned out to be incomplete was tagged as such, and may have another identifier since.
        let identifier =
            result.isComplete || plan.isIncomplete
            ? result.snapshot
            : try await engine.snapshot(.identifier(result.snapshot)).identifier
        try records.replace(
            repository, SourceTags(plan.sources).fingerprint, with: result.storedFiles,
            of: StoredFileRecords.Snapshot(
                identifier: identifier, file: engine.file(ofSnapshot: identifier)))
    } catch {
        try? records.remove(repository, except: [])
    }
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
