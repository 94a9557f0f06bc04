import ResourceValues
import SystemCalls
import SystemPackage

/// The state of an eviction that a file shows by its record, its permission bits, and whether it has
/// data.
public enum EvictionSign: Sendable, Hashable {
    /// A placeholder, with a record, the time in it, no data and no permission bits.
    case placeholder(EvictionRecord)
    /// A file whose eviction or download is running or was interrupted.
    case unfinished(EvictionRecord)
    /// A file with a record and permission bits but no data, which reads as zeros.
    case exposed(EvictionRecord)
    /// An ordinary file with an outdated record: it has data again, or is empty.
    case stale(EvictionRecord)
    /// A file that looks like a placeholder but has no record.
    case unrecorded

    /// Determines the state of a file.
    ///
    /// A file with a record, or one with a size but no permission bits, is opened to check for data.
    /// If it cannot be opened, its allocated size decides.
    ///
    /// - Parameter record: the file's record, nil if it has none.
    /// - Returns: nil for an ordinary file.
    public init?(
        _ location: borrowing some FileLocation & ~Copyable, _ status: FileStatus,
        _ record: EvictionRecord?
    ) {
        let bits = status.permissions & 0o777
        guard status.kind == .regularFile, record != nil || bits == 0 && status.size > 0 else {
            return nil
        }
        guard let record else {
            guard !hasData(location, status, attributes: 0) else { return nil }
            self = .unrecorded
            return
        }
        guard status.size > 0 else {
            self = .stale(record)
            return
        }
        switch (hasData(location, status, attributes: largestAttributes), bits) {
        case (false, 0) where record.hasTime(of: status):
            self = .placeholder(record)
        case (_, 0), (_, fillingPermissions): self = .unfinished(record)
        case _ where status.hasLentPermissions: self = .unfinished(record)
        case (false, _): self = .exposed(record)
        case (true, _): self = .stale(record)
        }
    }

    /// Reads the record of a file and determines its state.
    ///
    /// - Throws: ``FileError`` when the names of its attributes cannot be listed.
    public init?(
        of location: borrowing some FileLocation & ~Copyable, _ status: FileStatus
    ) throws(FileError) {
        guard status.kind == .regularFile else { return nil }
        self.init(location, status, try location.evictionRecord())
    }

    /// The record, or nil.
    public var record: EvictionRecord? {
        switch self {
        case .placeholder(let record), .unfinished(let record), .exposed(let record),
            .stale(let record):
            record
        case .unrecorded: nil
        }
    }

    /// Whether, judging by the file, some or all of the content is only in a snapshot.
    public var isEvicted: Bool {
        switch self {
        case .placeholder, .unfinished, .exposed: true
        case .stale, .unrecorded: false
        }
    }
}

/// The permission bits of a file whose content is being freed or written: attributes can be changed,
/// and no other unprivileged process can read zeros.
package let fillingPermissions: UInt16 = 0o200
/// The permission bits that are lent to a read-only file while its record is written or removed. The
/// sticky bit, which has no effect on a file, shows that they are lent.
package let lentPermissions: UInt16 = 0o1200
/// The permission bits that are lent to a file while it is opened.
package let openingPermissions: UInt16 = 0o1600

extension FileStatus {
    /// Whether the file has permission bits that an eviction or a download lent to it.
    package var hasLentPermissions: Bool { permissions & lentPermissions == lentPermissions }
}

/// The most bytes of blocks that the attributes of a file may use.
private let largestAttributes: Int64 = 1 << 16

/// Whether a file has data, by `lseek(2)` with `SEEK_DATA`.
///
/// - Parameter attributes: how many of the allocated bytes of a file that cannot be opened may belong
///   to its attributes.
private func hasData(
    _ location: borrowing some FileLocation & ~Copyable, _ status: FileStatus, attributes: Int64
) -> Bool {
    do throws(Errno) {
        // The item is compared with the status before it is opened for reading: opening a device can
        // have side effects.
        let item = OwnedDescriptor(try openFile(location, flags: [.reference, .noFollow]))
        guard try item.descriptor.status().identity == status.identity else { return true }
        let file = OwnedDescriptor(
            try reopenFile(item.descriptor, flags: [.readOnly, .nonBlocking, .noTerminal]))
        return try seekFile(file.descriptor, toNext: .data, from: 0) != nil
    } catch {
        // The file cannot be opened, or is being evicted or downloaded.
        return status.allocatedSize > attributes
    }
}
