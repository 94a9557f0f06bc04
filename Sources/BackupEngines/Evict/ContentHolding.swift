import Eviction
import SystemCalls
import SystemPackage

/// The additional requirements of an engine that files can be evicted with.
package protocol ContentHolding: BackupEngine {
    /// Whether the repository cannot be read without its password.
    var isEncrypted: Bool { get }

    /// Returns the engine's identifier of the repository: at least 16 hexadecimal digits.
    ///
    /// - Throws: ``BackupError`` when the repository cannot be read.
    func repositoryIdentifier() async throws(BackupError) -> String

    /// Makes a snapshot of only these files, reading their content again.
    ///
    /// - Parameters:
    ///   - files: absolute paths. Files that cannot be read are missing from the snapshot; the
    ///     caller finds out by reading them back.
    ///   - record: the snapshot's record.
    ///   - tag: the snapshot's tag.
    ///   - report: called a few times a second while files are read.
    /// - Returns: the full identifier of the snapshot.
    /// - Throws: ``BackupError`` when no snapshot was made.
    func hold(
        _ files: [FilePath], record: [UInt8], tag: String,
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> String

    /// Passes a file's content to a consumer.
    ///
    /// - Parameters:
    ///   - file: its absolute path in the snapshot.
    ///   - snapshot: the snapshot's full identifier.
    /// - Throws: ``BackupError``, possibly after part of the content was passed; what the consumer
    ///   throws.
    func readContent<Consumer: OutputConsumer>(
        of file: FilePath, in snapshot: String, with consumer: Consumer
    ) async throws(BackupError) -> Consumer
}

extension ContentHolding {
    /// Returns the full identifier of the snapshot with a tag.
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

/// Computes the hash of content.
struct HashConsumer: OutputConsumer {
    private var sum = SHA256()

    /// The hash of the content received so far.
    var content: ContentHash { ContentHash(sum) }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) { sum.update(bytes) }
    func finish() {}
}

/// Passes content to a download.
struct DownloadConsumer: OutputConsumer {
    private let download: Download
    /// The error with which the download refused content, which the engine cannot pass on.
    private let refusal: Monitor<EvictionError?>

    init(_ download: Download, _ refusal: Monitor<EvictionError?>) {
        self.download = download
        self.refusal = refusal
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        do {
            try download.receive(bytes)
        } catch {
            let error = EvictionError(error, at: download.path)
            refusal.withLock { $0 = error }
            throw BackupError(.other, error.sentence)
        }
    }

    func finish() {}
}
