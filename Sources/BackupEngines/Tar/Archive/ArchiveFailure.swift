import SystemPackage

/// Why an archive could not be read or written.
struct ArchiveFailure: Error, Sendable, Hashable {
    /// What is wrong, in libarchive's words or ours.
    let message: String
    /// The errno of the system call beneath; nil where the archive itself is at fault.
    let errno: Errno?
    /// Whether nothing more can be read from the archive or written to it.
    let isFatal: Bool

    init(_ message: String, errno: Errno? = nil, isFatal: Bool = true) {
        self.message = message
        self.errno = errno
        self.isFatal = isFatal
    }
}
