import BackupPlanning
import CArchive
import Eviction
import SystemCalls
import SystemPackage

/// Reads an archive entry by entry from an open file: `archive_read(3)`.
///
/// Used by one thread at a time.
final class ArchiveReader {
    private let archive: OpaquePointer
    private let input: ArchiveInput

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading; it stays open.
    ///   - isSummed: whether the SHA-256 of the whole file is wanted at the end.
    ///   - didRead: called with the number of bytes after each part of the file.
    init(
        _ format: ArchiveWriter.Format, from descriptor: FileDescriptor, isSummed: Bool = false,
        didRead: @escaping (Int) -> Void = { _ in }
    ) throws(ArchiveFailure) {
        guard let archive = archive_read_new() else {
            throw ArchiveFailure("there is not enough memory", errno: .noMemory)
        }
        self.archive = archive
        input = ArchiveInput(descriptor, isSummed: isSummed, didRead: didRead)
        // libarchive tries only the filters and formats that are enabled.
        try check(archive_read_support_filter_zstd(archive))
        switch format {
        case .pax: try check(archive_read_support_format_tar(archive))
        case .raw: try check(archive_read_support_format_raw(archive))
        }
        try check(
            archive_read_open(
                archive, Unmanaged.passUnretained(input).toOpaque(), nil,
                { _, input, bytes in
                    guard let input, let bytes else { return -1 }
                    return Unmanaged<ArchiveInput>.fromOpaque(input).takeUnretainedValue()
                        .read(bytes)
                }, nil))
    }

    deinit { archive_read_free(archive) }

    /// Returns the next entry's header; nil after the last entry.
    func next() throws(ArchiveFailure) -> ArchiveMetadata? {
        var entry: OpaquePointer?
        let code = archive_read_next_header(archive, &entry)
        if code == ARCHIVE_EOF { return nil }
        guard code == ARCHIVE_OK || code == ARCHIVE_WARN, let entry else { throw failure }
        return archiveMetadata(entry)
    }

    /// Returns the next piece of the entry's content with its offset, valid until the next call;
    /// nil after the last piece. The gaps between pieces, and after the last, are holes.
    func nextPiece() throws(ArchiveFailure) -> (offset: Int64, bytes: UnsafeRawBufferPointer)? {
        var bytes: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        let code = archive_read_data_block(archive, &bytes, &count, &offset)
        if code == ARCHIVE_EOF { return nil }
        guard code == ARCHIVE_OK else { throw failure }
        return (offset, UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Reads what follows the archive.
    ///
    /// - Returns: the size of the file in bytes, and its SHA-256.
    func finish() throws(ArchiveFailure) -> (size: Int64, digest: String) {
        do throws(Errno) {
            return try input.finish()
        } catch {
            throw ArchiveFailure("cannot be read: \(error)", errno: error)
        }
    }

    private func check(_ code: CInt) throws(ArchiveFailure) {
        guard code == ARCHIVE_OK else { throw failure }
    }

    private var failure: ArchiveFailure {
        if let errno = input.failure {
            return ArchiveFailure("cannot be read: \(errno)", errno: errno)
        }
        return ArchiveFailure(archiveMessage(archive))
    }
}

/// The file that an archive is read from; computes the digest of what is read.
final class ArchiveInput {
    /// The errno of the last failure; nil when there was none.
    private(set) var failure: Errno?
    private let descriptor: FileDescriptor
    private let isSummed: Bool
    private let didRead: (Int) -> Void
    private var size: Int64 = 0
    private var digest = SHA256()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)

    /// Creates an input.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading; it stays open.
    ///   - didRead: called with the number of bytes after each part.
    init(
        _ descriptor: FileDescriptor, isSummed: Bool, didRead: @escaping (Int) -> Void = { _ in }
    ) {
        self.descriptor = descriptor
        self.isSummed = isSummed
        self.didRead = didRead
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
        didRead(count)
        return count
    }
}
