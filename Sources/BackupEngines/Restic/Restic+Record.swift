extension Restic {
    package func readRecordBytes<Consumer: OutputConsumer>(
        of snapshot: Snapshot, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        guard let record = snapshot.recordPath else { throw .noRecord }
        return try await run(
            ResticCommand("dump", on: words(snapshot.identifier) + [record.path]),
            reading: consumer)
    }
}
