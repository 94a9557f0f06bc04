import CArchive
import SystemCalls
import SystemPackage

/// Writes an archive, compressed with zstd, to an open file: `archive_write(3)`.
///
/// Used by one thread at a time.
final class ArchiveWriter {
    /// What an archive is made of.
    enum Format {
        /// The tar format of POSIX.1-2001, with times to the nanosecond and extended attributes as
        /// GNU tar and bsdtar know them.
        case pax
        /// Bytes without any structure: one compressed file.
        case raw
    }

    private let archive: OpaquePointer
    private let entry: ArchiveEntry
    private let output: ArchiveOutput
    private var isClosed = false

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
        // As many threads as there are cores; a libzstd that cannot has one all the same.
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
        // What is not finished is thrown away: nothing more of it is to be written.
        if !isClosed { archive_write_fail(archive) }
        archive_write_free(archive)
    }

    /// Begins an entry.
    ///
    /// - Throws: ``ArchiveFailure``, not a fatal one when the format cannot express the header.
    func begin(_ item: ArchiveMetadata) throws(ArchiveFailure) {
        entry.fill(item)
        let code = archive_write_header(archive, entry.pointer)
        // The C locale knows no names but ASCII: others are written as they are, with a warning.
        if code == ARCHIVE_WARN && item.holdsMoreThanASCII { return }
        try check(code)
    }

    /// Adds content to the entry, of which there must be exactly as much as its size says.
    func append(_ bytes: UnsafeRawBufferPointer) throws(ArchiveFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = archive_write_data(archive, rest.baseAddress, rest.count)
            guard count > 0 else { throw failure(isFatal: true) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    /// Adds content to the entry.
    func append(_ bytes: [UInt8]) throws(ArchiveFailure) {
        let outcome = bytes.withUnsafeBytes { bytes in
            Result { () throws(ArchiveFailure) in try append(bytes) }
        }
        try outcome.get()
    }

    /// Ends the entry.
    func end() throws(ArchiveFailure) { try check(archive_write_finish_entry(archive)) }

    /// Writes what is left.
    ///
    /// - Returns: the size of what was written in bytes, and its SHA-256.
    func finish() throws(ArchiveFailure) -> (size: Int64, digest: String) {
        isClosed = true
        try check(archive_write_close(archive))
        return output.finish()
    }

    /// How many bytes were written so far.
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

/// libarchive's words for what went wrong last.
func archiveMessage(_ archive: OpaquePointer) -> String {
    archive_error_string(archive).map { String(cString: $0) } ?? "libarchive does not say why"
}

extension ArchiveMetadata {
    fileprivate var holdsMoreThanASCII: Bool {
        let text = [path, linkTarget, hardLink ?? [], Array(ownerName.utf8), Array(groupName.utf8)]
        return text.contains { $0.contains { $0 > 0x7F } }
    }
}

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
