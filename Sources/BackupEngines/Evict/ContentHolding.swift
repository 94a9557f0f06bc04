import SystemPackage

/// What an engine must be able to do besides, for files to be evicted into its repository.
package protocol ContentHolding: BackupEngine {
    /// Whether nobody can read the repository without its password.
    var isEncrypted: Bool { get }

    /// The engine's own identifier of the repository: at least 16 hexadecimal digits.
    ///
    /// - Throws: ``BackupError`` when the repository cannot be read.
    func repositoryIdentifier() async throws(BackupError) -> String

    /// Makes a snapshot of just these files, with their content read anew.
    ///
    /// - Parameters:
    ///   - files: absolute paths. Those that cannot be read are missing from the snapshot, which
    ///     whoever reads them back finds out.
    ///   - record: the snapshot's record.
    ///   - tag: the snapshot's tag.
    ///   - report: called a few times a second while files are read.
    /// - Returns: the whole identifier of the snapshot.
    /// - Throws: ``BackupError`` when no snapshot was made.
    func hold(
        _ files: [FilePath], record: [UInt8], tag: String,
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> String

    /// Hands a file's content to a consumer.
    ///
    /// - Parameters:
    ///   - file: the absolute path it has in the snapshot.
    ///   - snapshot: the snapshot's whole identifier.
    /// - Throws: ``BackupError``, also after parts of the content; what the consumer throws.
    func readContent<Consumer: OutputConsumer>(
        of file: FilePath, in snapshot: String, with consumer: Consumer
    ) async throws(BackupError) -> Consumer
}

extension ContentHolding {
    /// The whole identifier of the snapshot with a tag.
    ///
    /// - Throws: ``BackupError`` with the code `noSnapshot` when there is none.
    func heldSnapshot(tag: String) async throws(BackupError) -> String {
        guard let snapshot = try await snapshots(SnapshotFilter(tags: [tag])).first else {
            throw BackupError(
                .noSnapshot, "the snapshot tagged \(tag) is not in the repository",
                advice: "check --repository; the content of evicted files is in no other snapshot")
        }
        return snapshot.identifier
    }
}
