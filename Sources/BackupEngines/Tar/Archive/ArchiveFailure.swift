import SystemPackage

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
