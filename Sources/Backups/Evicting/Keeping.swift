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
            found = try identifierOfConfig(output.bytes)
        } catch {
            throw .unexpectedAnswer(error, to: "cat config")
        }
        identifier.withLock { $0 = found }
        return found
    }

    /// Makes a kept snapshot of only these files, reading their content again.
    ///
    /// - Parameters:
    ///   - files: absolute paths. Files that cannot be read are missing from the snapshot; the
    ///     caller finds out by reading them back.
    ///   - record: the snapshot's record.
    ///   - report: called a few times a second while files are read.
    /// - Returns: the snapshot's full identifier.
    /// - Throws: ``BackupError`` when no snapshot was made.
    func keep(
        _ files: [FilePath], record: [UInt8],
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> String {
        try checkExistence()
        let record = try RecordFile(
            record, name: RecordPath.fileName(SourceTags(files).fingerprint),
            in: recordDirectories)
        let list = try MemoryFile((files + [record.path]).flatMap { $0.bytes + [0] })
        // --force ignores parent snapshots, so that no file is considered unchanged by its size and
        // times.
        let command = ResticCommand(
            "backup",
            words("--json", "--force")
                + [
                    option("--host", hostName()), option("--tag", StateTag.kept),
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

    /// Passes the contents of all files of a snapshot to consumers, by one `restic dump`, which writes
    /// a tar archive.
    ///
    /// A file whose content does not arrive whole may be damaged, absent, or behind one that is: its
    /// consumer is not finished, and ``readContent(of:in:isProof:with:)`` tells why.
    ///
    /// - Parameters:
    ///   - snapshot: the snapshot's full identifier.
    ///   - isProof: whether nothing may come from restic's cache.
    ///   - consumer: returns the consumer of a file's content, given the file's absolute path in the
    ///     snapshot; nil to skip the file. When a consumer throws, the rest of its file is skipped.
    /// - Throws: ``BackupError``, possibly after files were passed.
    func readContents(
        in snapshot: String, isProof: Bool = false,
        with consumer: @escaping @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?
    ) async throws(BackupError) {
        // Without --quiet restic prints a lock that it waits for among the content.
        var dump = ResticCommand(
            "dump", words("--quiet", "--archive=tar"), on: words(snapshot, "/"))
        if isProof { dump.options += words("--no-cache", "--no-lock") }
        _ = try await run(dump, reading: PaxStream(member: consumer))
    }

    /// Passes a file's content to a consumer.
    ///
    /// - Parameters:
    ///   - file: its absolute path in the snapshot.
    ///   - snapshot: the snapshot's full identifier.
    ///   - isProof: whether nothing may come from restic's cache.
    /// - Throws: ``BackupError``, possibly after part of the content was passed; what the consumer
    ///   throws.
    func readContent<Consumer: OutputConsumer>(
        of file: FilePath, in snapshot: String, isProof: Bool = false, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        var dump = ResticCommand("dump", words("--quiet"), on: words(snapshot) + [file.bytes])
        if isProof { dump.options += words("--no-cache", "--no-lock") }
        return try await run(dump, reading: consumer)
    }
}

/// Returns the identifier in a repository's file `config`, as `restic cat config` prints it.
private func identifierOfConfig(_ json: [UInt8]) throws(JSONError) -> String {
    var identifier = ""
    var scanner = JSONScanner(json[...])
    try scanner.forEachField { scanner, field throws(JSONError) in
        if field == "id" { identifier = try scanner.text() }
    }
    return identifier
}
