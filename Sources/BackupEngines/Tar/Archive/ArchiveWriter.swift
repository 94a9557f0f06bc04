import CArchive
import Eviction
import SystemCalls
import SystemPackage

/// Writes an archive, compressed with zstd, to an open file: `archive_write(3)`.
///
/// Used by one thread at a time.
final class ArchiveWriter {
    /// The formats of an archive.
    enum Format {
        /// The tar format of POSIX.1-2001, with times in nanoseconds, and with extended attributes
        /// as GNU tar and bsdtar store them.
        case pax
        /// Bytes without any structure: one compressed file.
        case raw
    }

    private let archive: OpaquePointer
    private let entry: ArchiveEntry
    private let output: ArchiveOutput
    private var isClosed = false

    /// Begins an archive.
    ///
    /// - Parameter descriptor: open for writing; it stays open.
    init(_ format: Format, to descriptor: FileDescriptor) throws(ArchiveFailure) {
        guard let archive = archive_write_new() else {
            throw ArchiveFailure("there is not enough memory", errno: .noMemory)
        }
        self.archive = archive
        entry = try ArchiveEntry()
        output = ArchiveOutput(descriptor)
        switch format {
        case .pax:
            try check(archive_write_set_format_pax(archive))
            try check(archive_write_set_format_option(archive, "pax", "xattrheader", "SCHILY"))
        case .raw: try check(archive_write_set_format_raw(archive))
        }
        try check(archive_write_add_filter_zstd(archive))
        try check(archive_write_set_filter_option(archive, "zstd", "compression-level", "3"))
        // As many threads as there are cores; a libzstd without threads ignores this.
        _ = archive_write_set_filter_option(archive, "zstd", "threads", "0")
        try check(archive_write_set_bytes_per_block(archive, 1 << 18))
        try check(archive_write_set_bytes_in_last_block(archive, 1))
        try check(
            archive_write_open(
                archive, Unmanaged.passUnretained(output).toOpaque(), nil,
                { _, output, bytes, count in
                    guard let output else { return -1 }
                    return Unmanaged<ArchiveOutput>.fromOpaque(output).takeUnretainedValue()
                        .write(UnsafeRawBufferPointer(start: bytes, count: count))
                }, nil))
    }

    deinit {
        // An unfinished archive is discarded: nothing more of it must be written.
        if !isClosed { archive_write_fail(archive) }
        archive_write_free(archive)
    }

    /// Begins an entry.
    ///
    /// - Throws: ``ArchiveFailure``, which is not fatal when the format cannot express the header.
    func begin(_ item: ArchiveMetadata) throws(ArchiveFailure) {
        entry.fill(item)
        let code = archive_write_header(archive, entry.pointer)
        // In the C locale, libarchive writes names that are not ASCII unchanged, with a warning.
        if code == ARCHIVE_WARN && item.holdsMoreThanASCII { return }
        try check(code)
    }

    /// Appends content to the entry, which must have exactly as many bytes as its size says.
    func append(_ bytes: UnsafeRawBufferPointer) throws(ArchiveFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = archive_write_data(archive, rest.baseAddress, rest.count)
            guard count > 0 else { throw failure(isFatal: true) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    /// Appends content to the entry.
    func append(_ bytes: [UInt8]) throws(ArchiveFailure) {
        let outcome = bytes.withUnsafeBytes { bytes in
            Result { () throws(ArchiveFailure) in try append(bytes) }
        }
        try outcome.get()
    }

    /// Ends the entry.
    func end() throws(ArchiveFailure) { try check(archive_write_finish_entry(archive)) }

    /// Writes the pending data and ends the archive.
    ///
    /// - Returns: the size of what was written in bytes, and its SHA-256.
    func finish() throws(ArchiveFailure) -> (size: Int64, digest: String) {
        isClosed = true
        try check(archive_write_close(archive))
        return output.finish()
    }

    /// The number of bytes written so far.
    var size: Int64 { output.size }

    private func check(_ code: CInt) throws(ArchiveFailure) {
        guard code != ARCHIVE_OK else { return }
        throw failure(isFatal: code == ARCHIVE_FATAL)
    }

    private func failure(isFatal: Bool) -> ArchiveFailure {
        if let errno = output.failure {
            return ArchiveFailure("cannot be written: \(errno)", errno: errno)
        }
        return ArchiveFailure(archiveMessage(archive), isFatal: isFatal)
    }
}

/// Returns libarchive's last error message.
func archiveMessage(_ archive: OpaquePointer) -> String {
    archive_error_string(archive).map { String(cString: $0) } ?? "libarchive does not say why"
}

extension ArchiveMetadata {
    fileprivate var holdsMoreThanASCII: Bool {
        let text = [path, linkTarget, hardLink ?? [], Array(ownerName.utf8), Array(groupName.utf8)]
        return text.contains { $0.contains { $0 > 0x7F } }
    }
}

/// The file that an archive is written to; computes the digest of what is written.
final class ArchiveOutput {
    /// The errno of the last failure; nil when there was none.
    private(set) var failure: Errno?
    /// The number of bytes written.
    private(set) var size: Int64 = 0
    private let descriptor: FileDescriptor
    private var digest = SHA256()

    /// Creates an output.
    ///
    /// - Parameter descriptor: open for writing; it stays open.
    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    /// Writes all bytes.
    ///
    /// - Returns: the number of bytes; -1 on failure.
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

    /// Returns the size of what was written in bytes, and its SHA-256.
    func finish() -> (size: Int64, digest: String) { (size, digest.finish()) }
}

/// The reason why an archive could not be read or written.
struct ArchiveFailure: Error, Sendable, Hashable {
    /// What is wrong, in the words of libarchive or of this program.
    let message: String
    /// The errno of the failed system call; nil when the archive itself is at fault.
    let errno: Errno?
    /// Whether nothing more can be read from the archive or written to it.
    let isFatal: Bool

    init(_ message: String, errno: Errno? = nil, isFatal: Bool = true) {
        self.message = message
        self.errno = errno
        self.isFatal = isFatal
    }
}
