import SystemCalls

/// A regular file as a snapshot contains it, as 32 bytes.
///
/// A change of a file's content or metadata sets its `st_ctime` to the clock; no program can set
/// another time. So a file that still has these numbers has the content that it had when they were
/// read, unless a program writes through a shared mapping: of such writes only the first to a page
/// after it was written back sets the time, and on tmpfs, which never writes back, possibly none.
package struct StoredFileState: Sendable, Hashable, Comparable, BitwiseCopyable {
    // In this order and size, in the byte order of the machine, a file of records contains them.
    private let inode: UInt64
    /// `st_ctime` and `st_mtime` in nanoseconds since 1970.
    private let changed: Int64
    private let modified: Int64
    private let device: UInt32
    /// The last 32 bits of the size.
    private let size: UInt32

    /// Creates the record of a file with a status.
    ///
    /// - Returns: nil for anything but a regular file, and where the times cannot prove that nothing
    ///   changed: those of filesystems that store whole seconds, and times that nanoseconds in 64
    ///   bits do not reach (before 1678 and after 2261).
    package init?(_ status: FileStatus) {
        guard status.kind == .regularFile, status.attributeModificationTime.nanoseconds != 0,
            let changed = status.attributeModificationTime.sinceEpoch,
            let modified = status.contentModificationTime.sinceEpoch,
            let device = UInt32(exactly: status.identity.device)
        else { return nil }
        inode = status.identity.inode
        self.changed = changed
        self.modified = modified
        self.device = device
        size = UInt32(truncatingIfNeeded: status.size)
    }

    /// Creates the record of a file that did not change since a moment, by the clock of filesystems.
    ///
    /// - Returns: nil for a file that may have changed since, or wherever ``init(_:)`` returns nil.
    package init?(_ status: FileStatus, unchangedSince start: FileTime) {
        // The clock of filesystems is behind by milliseconds.
        let latest = FileTime(
            seconds: start.seconds.subtractingSaturating(1), nanoseconds: start.nanoseconds)
        guard status.attributeModificationTime < latest else { return nil }
        self.init(status)
    }

    /// The number of bytes of a record.
    package static let length = MemoryLayout<StoredFileState>.stride

    /// The order by device and inode.
    package static func < (first: StoredFileState, second: StoredFileState) -> Bool {
        (first.device, first.inode) < (second.device, second.inode)
    }
}

extension FileTime {
    /// Nanoseconds since 1970; nil when they need more than 64 bits.
    fileprivate var sinceEpoch: Int64? {
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = whole.addingReportingOverflow(Int64(nanoseconds))
        return isTooLarge || overflows ? nil : sum
    }
}
