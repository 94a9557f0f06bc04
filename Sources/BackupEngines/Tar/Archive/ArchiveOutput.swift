import SystemCalls
import SystemPackage

/// Where an archive is written to; sums up what passes.
final class ArchiveOutput {
    /// What went wrong; nil as long as nothing did.
    private(set) var failure: Errno?
    /// How many bytes were written.
    private(set) var size: Int64 = 0
    private let descriptor: FileDescriptor
    private var digest = SHA256()

    /// - Parameter descriptor: open for writing; it stays open.
    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    /// Writes all bytes.
    ///
    /// - Returns: how many they are; -1 on failure.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        do throws(Errno) {
            try writeFile(descriptor, bytes)
        } catch {
            failure = error
            return -1
        }
        digest.update(bytes)
        size += Int64(bytes.count)
        return bytes.count
    }

    /// The size of what was written in bytes, and its SHA-256.
    func finish() -> (size: Int64, digest: String) { (size, digest.finish()) }
}
