import SystemCalls
import SystemPackage

extension Restic: ContentHolding {
    /// true: restic knows no other repositories.
    package var isEncrypted: Bool { true }

    package func hold(
        _ files: [FilePath], tag: String, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> String {
        try await recover()
        let list = try MemoryFile(files.flatMap { $0.bytes + [0] })
        // Without a parent nothing is taken as unchanged because its size and times are.
        let arguments = words("backup", "--json", "--force", "--tag", tag, "--files-from-raw")
        let (output, end) = try await attempt(
            arguments + [list.path], reading: Lines(BackupMessages(report)))
        // restic opened the list by this process's descriptor.
        withExtendedLifetime(list) {}
        // 3: something could not be read, which reading it back shows.
        guard end.code == 0 || end.code == 3 else { throw failure(end) }
        guard output.consumer.summary != nil else {
            throw BackupError(.unexpectedAnswer, "restic backup did not name the new snapshot")
        }
        return try await heldSnapshot(tag: tag)
    }

    package func readContent<Consumer: OutputConsumer>(
        of file: FilePath, in snapshot: String, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        try await run(words("dump", snapshot) + [file.bytes], reading: consumer)
    }
}
