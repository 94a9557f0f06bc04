import Eviction
import SystemCalls

/// Makes the hash of content.
struct HashConsumer: OutputConsumer {
    private(set) var hasher = ContentHasher()

    mutating func receive(_ bytes: UnsafeRawBufferPointer) { hasher.update(bytes) }
    func finish() {}
}

/// Hands content to a download.
struct DownloadConsumer: OutputConsumer {
    private let download: Download
    /// What the download said no with, which the engine does not know.
    private let refusal: Monitor<EvictionError?>

    init(_ download: Download, _ refusal: Monitor<EvictionError?>) {
        self.download = download
        self.refusal = refusal
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        do throws(EvictionError) {
            try download.receive(bytes)
        } catch {
            refusal.withLock { $0 = error }
            throw BackupError(.other, error.sentence)
        }
    }

    func finish() {}
}
