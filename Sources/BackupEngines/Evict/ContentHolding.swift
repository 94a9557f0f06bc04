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
    /// - Returns: the snapshot's identifier, or its first digits.
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

    /// Passes the contents of all files below a directory to consumers, in one pass.
    ///
    /// A file whose content does not arrive whole may be damaged, absent, or behind one that is: its
    /// consumer is not finished, and ``readContent(of:in:with:)`` tells why.
    ///
    /// - Parameters:
    ///   - directory: its absolute path in the snapshot.
    ///   - snapshot: the snapshot's identifier, or its first digits.
    ///   - consumer: returns the consumer of a file's content, given the file's absolute path in the
    ///     snapshot; nil to skip the file. When a consumer throws, the rest of its file is skipped.
    ///     Called, like the consumers, by one thread, which may block.
    /// - Throws: ``BackupError``, possibly after files were passed.
    func readContents(
        below directory: FilePath, in snapshot: String,
        with consumer: @escaping @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?
    ) async throws(BackupError)
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
    private let counter: StepCounter?
    private let whenDone: @Sendable (ContentHash) -> Void

    /// - Parameter whenDone: called with the hash after the last bytes.
    init(
        _ counter: StepCounter? = nil,
        whenDone: @escaping @Sendable (ContentHash) -> Void = { _ in }
    ) {
        self.counter = counter
        self.whenDone = whenDone
    }

    /// The hash of the content received so far.
    var content: ContentHash { ContentHash(sum) }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        sum.update(bytes)
        counter?.add(bytes: Int64(bytes.count))
    }

    func finish() {
        counter?.add(files: 1)
        whenDone(content)
    }
}

/// Collects the content of a file.
struct GatheredContent: OutputConsumer {
    private var output: WholeOutput
    private let whenDone: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - limit: the most bytes that are accepted.
    ///   - whenDone: called with the content after the last bytes.
    init(limit: Int, whenDone: @escaping @Sendable ([UInt8]) -> Void) {
        output = WholeOutput(limit: limit)
        self.whenDone = whenDone
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        try output.receive(bytes)
    }

    func finish() { whenDone(output.bytes) }
}

/// Passes content to a download.
struct DownloadConsumer: OutputConsumer {
    private let download: Download
    private let counter: StepCounter
    private let whenDone: @Sendable (EvictionError?) -> Void

    /// - Parameter whenDone: called after the last bytes, or with the error for which the download
    ///   refused some, which the engine cannot pass on.
    init(
        _ download: Download, _ counter: StepCounter,
        whenDone: @escaping @Sendable (EvictionError?) -> Void
    ) {
        self.download = download
        self.counter = counter
        self.whenDone = whenDone
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        do {
            try download.receive(bytes)
        } catch {
            let error = EvictionError(error, at: download.path)
            whenDone(error)
            throw BackupError(.other, error.sentence)
        }
        counter.add(bytes: Int64(bytes.count))
    }

    func finish() {
        counter.add(files: 1)
        whenDone(nil)
    }
}
