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
        let command = ResticCommand(
            "backup",
            words("--json", "--force")
                + [option("--tag", tag), option("--files-from-raw", list.path)])
        let (output, end) = try await attempt(
            command, reading: Lines(BackupMessages(report)))
        // restic opened the list by this process's descriptor.
        withExtendedLifetime(list) {}
        // 3: something could not be read, which reading it back shows.
        guard end.code == 0 || end.code == 3 else { throw failure(end) }
        guard output.consumer.summary != nil else {
            throw BackupError(.unexpectedAnswer, "restic backup did not name the new snapshot")
        }
        return try await heldSnapshot(tag: tag)
    }

    /// restic before 0.17 keeps what it read of a damaged repository in its cache, and believes it
    /// ever after. So a failure before the first byte is answered from the repository itself.
    package func readContent<Consumer: OutputConsumer>(
        of file: FilePath, in snapshot: String, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        var dump = ResticCommand("dump", on: words(snapshot) + [file.bytes])
        let (output, end) = try await attempt(dump, reading: FirstByteWatcher(consumer))
        if end.code == 0 {
            var consumer = output.consumer
            try consumer.finish()
            return consumer
        }
        let failure = failure(end)
        guard !output.hasBegun, failure.code == .other || failure.code == .damaged else {
            throw failure
        }
        dump.options = words("--no-cache")
        return try await run(dump, reading: consumer)
    }
}
