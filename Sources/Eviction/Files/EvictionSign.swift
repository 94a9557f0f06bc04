import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// What a file shows of an eviction: its record, its permission bits, and whether it has data.
public enum EvictionSign: Sendable, Hashable {
    /// A placeholder: a record, no data, and no permission bits.
    case placeholder(EvictionRecord)
    /// A file whose eviction or download is under way, or was cut off.
    case unfinished(EvictionRecord)
    /// A file with a record and without data that can be opened, and reads as zeros.
    case exposed(EvictionRecord)
    /// A file that was given data or another size since: an ordinary one.
    case stale(EvictionRecord)
    /// A file that looks like a placeholder, and has no record.
    case unrecorded

    /// Looks at a file.
    ///
    /// A file that has a record, or that nobody may open, is opened to ask for data; who may not open it
    /// either learns from its size on the disk.
    ///
    /// - Parameter record: its record.
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
        case (false, 0): self = .placeholder(record)
        case (_, 0), (_, ownerWrites): self = .unfinished(record)
        case (false, _): self = .exposed(record)
        case (true, _): self = .stale(record)
        }
    }

    /// Looks at a file and reads its record.
    ///
    /// - Throws: ``FileError`` when the names of its attributes cannot be listed.
    public init?(
        of location: borrowing some FileLocation & ~Copyable, _ status: FileStatus
    ) throws(FileError) {
        guard status.kind == .regularFile else { return nil }
        self.init(location, status, try location.evictionRecord())
    }

    /// The record; nil where there is none.
    public var record: EvictionRecord? {
        switch self {
        case .placeholder(let record), .unfinished(let record), .exposed(let record),
            .stale(let record):
            record
        case .unrecorded: nil
        }
    }

    /// Whether the content is in a snapshot only, as far as the file tells.
    public var isEvicted: Bool {
        switch self {
        case .placeholder, .unfinished, .exposed: true
        case .stale, .unrecorded: false
        }
    }
}

private let ownerWrites: UInt16 = 0o200
/// How many bytes of blocks the attributes of a file may take.
private let largestAttributes: Int64 = 1 << 16

/// Whether a file has data, which `lseek(2)` with `SEEK_DATA` tells.
///
/// - Parameter attributes: how many bytes of blocks of a file that cannot be opened may be its attributes'.
private func hasData(
    _ location: borrowing some FileLocation & ~Copyable, _ status: FileStatus, attributes: Int64
) -> Bool {
    do throws(Errno) {
        // What is opened is what was looked at: opening a device can do something.
        let item = OwnedDescriptor(try openFile(location, flags: [.reference, .noFollow]))
        guard try item.descriptor.status().identity == status.identity else { return true }
        let file = OwnedDescriptor(
            try reopenFile(item.descriptor, flags: [.readOnly, .nonBlocking, .noTerminal]))
        return try seekFile(file.descriptor, toNext: .data, from: 0) != nil
    } catch {
        // It may not be opened, or is being evicted or brought back.
        return status.allocatedSize > attributes
    }
}
