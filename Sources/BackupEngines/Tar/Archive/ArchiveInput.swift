import Eviction
import SystemCalls
import SystemPackage

/// The file that an archive is read from; computes the digest of what is read.
final class ArchiveInput {
    /// The errno of the last failure; nil when there was none.
    private(set) var failure: Errno?
    private let descriptor: FileDescriptor
    private let isSummed: Bool
    private var size: Int64 = 0
    private var digest = SHA256()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)

    /// Creates an input.
    ///
    /// - Parameter descriptor: open for reading; it stays open.
    init(_ descriptor: FileDescriptor, isSummed: Bool) {
        self.descriptor = descriptor
        self.isSummed = isSummed
    }

    deinit { buffer.deallocate() }

    /// Reads the next piece and sets a pointer to it.
    ///
    /// - Returns: the number of bytes read; 0 at the end, -1 on failure.
    func read(_ bytes: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
        do throws(Errno) {
            bytes.pointee = UnsafeRawPointer(buffer.baseAddress)
            return try read()
        } catch {
            failure = error
            return -1
        }
    }

    /// Reads to the end, and returns the size of the file in bytes and its SHA-256.
    func finish() throws(Errno) -> (size: Int64, digest: String) {
        while try read() > 0 {}
        return (size, digest.finish())
    }

    private func read() throws(Errno) -> Int {
        let count = try readFile(descriptor, into: buffer)
        if isSummed { digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        size += Int64(count)
        return count
    }
}
