extension BackupEngine {
    /// Hands the lines of a snapshot's record to a handler, in bounded memory.
    ///
    /// - Throws: ``BackupError`` with the code `noRecord` when the snapshot has none, or one that
    ///   makes no sense; also what the handler throws.
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
    /// That a snapshot has no record.
    package static let noRecord = BackupError(
        .noRecord, "the snapshot has no record of what was left out",
        advice: "only snapshots of resval-backup create have one")
}
