import SystemCalls
import SystemPackage

extension Restic {
    package func readRecordBytes<Consumer: OutputConsumer>(
        of snapshot: Snapshot, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        guard let record = snapshot.recordPath else { throw .noRecord }
        return try await readContent(
            of: FilePath(bytes: record.path), in: snapshot.identifier, with: consumer)
    }
}
