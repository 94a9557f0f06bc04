import SystemCalls
import SystemPackage

extension Restic {
    /// Returns restic's identifier of the repository: at least 16 hexadecimal digits.
    ///
    /// - Throws: ``BackupError`` when the repository cannot be read.
    package func repositoryIdentifier() async throws(BackupError) -> String {
        try checkExistence()
        if let known = identifier.withLock({ $0 }) { return known }
        let output = try await run(
            ResticCommand("cat", words("--no-lock"), on: words("config")), reading: WholeOutput())
        let found: String
        do throws(JSONError) {
            found = try ResticConfig(json: output.bytes).identifier
        } catch {
            throw .unexpectedAnswer(error, to: "cat config")
        }
        identifier.withLock { $0 = found }
        return found
    }

    /// Makes a snapshot of only these files, reading their content again.
    ///
    /// - Parameters:
    ///   - files: absolute paths. Files that cannot be read are missing from the snapshot; the
    ///     caller finds out by reading them back.
    ///   - record: the snapshot's record.
    ///   - tag: the snapshot's tag.
    ///   - report: called a few times a second while files are read.
    /// - Returns: the snapshot's identifier, or its first digits.
    /// - Throws: ``BackupError`` when no snapshot was made.
    func hold(
        _ files: [FilePath], record: [UInt8], tag: String,
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> String {
        try checkExistence()
        // The filesystem that files are evicted from may have no space for the record.
        let memory = environmentValue("XDG_RUNTIME_DIR").map { [FilePath(bytes: $0)] } ?? []
        let record = try RecordFile(
            record, name: RecordPath.fileName(SourceTags(files).fingerprint), outside: files,
            below: memory + ["/tmp", "/var/tmp"])
        let list = try MemoryFile((files + [record.path]).flatMap { $0.bytes + [0] })
        // --force ignores parent snapshots, so that no file is considered unchanged by its size and
        // times.
        let command = ResticCommand(
            "backup",
            words("--json", "--force")
                + [
                    option("--host", hostName()), option("--tag", tag),
                    option("--tag", RecordPath.tag(record.path)),
                    option("--files-from-raw", list.path),
                ])
        let (output, end) = try await attempt(
            command, reading: Lines(BackupMessages(report)))
        // restic opens the list through this process's descriptor, and the record by its path.
        withExtendedLifetime((list, record)) {}
        // 3: some files could not be read, which is found when they are read back.
        guard end.code == 0 || end.code == 3 else { throw failure(end) }
        return try output.consumer.newSnapshot.snapshot
    }

    /// Passes a file's content to a consumer.
    ///
    /// - Parameters:
    ///   - file: its absolute path in the snapshot.
    ///   - snapshot: the snapshot's full identifier.
    /// - Throws: ``BackupError``, possibly after part of the content was passed; what the consumer
    ///   throws.
    func readContent<Consumer: OutputConsumer>(
        of file: FilePath, in snapshot: String, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        try await run(
            ResticCommand("dump", on: words(snapshot) + [file.bytes]), reading: consumer)
    }
}

/// What identifies a repository: its file `config`.
struct ResticConfig {
    private(set) var identifier = ""

    /// Parses the file, as `restic cat config` prints it.
    init(json: [UInt8]) throws(JSONError) {
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, field throws(JSONError) in
            if field == "id" { identifier = try scanner.text() }
        }
    }
}
