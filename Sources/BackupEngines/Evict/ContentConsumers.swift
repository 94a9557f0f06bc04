import Eviction
import SystemCalls

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
