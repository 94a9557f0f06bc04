extension Restic {
    package func readRecordBytes<Consumer: OutputConsumer>(
        of snapshot: Snapshot, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        guard let record = snapshot.recordPath else { throw .noRecord }
        return try await run(
            words("dump", snapshot.identifier) + [record.path], reading: consumer)
    }
}
