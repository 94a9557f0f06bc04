import Eviction

extension Restic {
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
