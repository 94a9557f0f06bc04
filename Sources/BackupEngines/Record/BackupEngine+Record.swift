extension BackupEngine {
    /// Passes the lines of a snapshot's record to a handler, in bounded memory.
    ///
    /// - Throws: ``BackupError``: `noRecord` when the snapshot has none, `damaged` when it is not
    ///   valid; also the handler's error.
    package func readRecord<Handler: RecordHandler>(
        of snapshot: Snapshot, with handler: Handler
    ) async throws(BackupError) -> Handler {
        let lines = try await readRecordBytes(
            of: snapshot, with: Lines(RecordReader(handler), tooLong: .damagedRecord))
        try lines.consumer.checkEnd()
        return lines.consumer.handler
    }
}

extension BackupError {
    /// The error for a snapshot that has no record.
    package static let noRecord = BackupError(
        .noRecord, "the snapshot has no record of what was excluded",
        advice: "only snapshots of resval-backup create have one")
}
