import ResourceValues
import SystemCalls
import SystemPackage

/// The record of an evicted file: an extended attribute whose name says where the content is, and how
/// the file was.
///
/// The name carries the data, not the value: a placeholder has no permission bits, so its owner may
/// list the names of its attributes, but neither read nor change their values.
public struct EvictionRecord: Sendable, Hashable {
    /// The first 16 hexadecimal digits of the engine's repository identifier.
    public let repository: String
    /// The first 16 hexadecimal digits of the identifier that the snapshot was given when created.
    public let snapshot: String
    /// The index of the item in the list of the snapshot's own record, from 0.
    public let item: Int
    /// The permission bits that the file had, without set-user-ID, set-group-ID and sticky.
    public let permissions: UInt16
    /// The modification time of the content and of the placeholder.
    public let modified: FileTime

    private static let prefix = "user.resval.evicted."

    /// Creates a record from full identifiers.
    ///
    /// - Returns: nil if one of the first 16 characters of an identifier is missing or is not a
    ///   lowercase hexadecimal digit, or if another part is out of range.
    package init?(
        repository: String, snapshot: String, item: Int, permissions: UInt16, modified: FileTime
    ) {
        self.repository = String(repository.prefix(16))
        self.snapshot = String(snapshot.prefix(16))
        self.item = item
        self.permissions = permissions
        self.modified = modified
        // utimensat(2) gives more nanoseconds special meanings, such as `UTIME_NOW`.
        guard Self.isNumber(self.repository), Self.isNumber(self.snapshot), item >= 0,
            permissions & ~0o777 == 0, modified.nanoseconds < 1_000_000_000
        else { return nil }
    }

    /// Creates a record from an attribute's name; nil if the name is not that of a record.
    package init?(attribute name: some Collection<UInt8>) {
        guard name.starts(with: Self.prefix.utf8) else { return nil }
        let parts = String(decoding: name.dropFirst(Self.prefix.utf8.count), as: UTF8.self)
            .split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].count == 16, parts[1].count == 16,
            let item = Int(parts[2]), let permissions = UInt16(parts[3], radix: 8),
            // Seconds before 1970 begin with a hyphen, too.
            let hyphen = parts[4].lastIndex(of: "-"), let seconds = Int64(parts[4][..<hyphen]),
            let nanoseconds = UInt32(parts[4][hyphen...].dropFirst())
        else { return nil }
        self.init(
            repository: String(parts[0]), snapshot: String(parts[1]), item: item,
            permissions: permissions,
            modified: FileTime(seconds: seconds, nanoseconds: nanoseconds))
        // Only the canonical text is accepted.
        guard attribute.bytes.elementsEqual(name) else { return nil }
    }

    /// Creates a record from the first attribute name that is one, or nil.
    package init?(among names: some Sequence<[UInt8]>) {
        guard let record = names.lazy.compactMap({ EvictionRecord(attribute: $0) }).first else {
            return nil
        }
        self = record
    }

    package var attribute: ExtendedAttributeName {
        ExtendedAttributeName(
            "\(Self.prefix)\(repository).\(snapshot).\(item).\(String(permissions, radix: 8))."
                + "\(modified.seconds)-\(modified.nanoseconds)")
    }

    /// Whether a file has the modification time, as far as its filesystem keeps the digits: a placeholder
    /// may have been copied to one that keeps fewer.
    package func hasTime(of status: FileStatus) -> Bool {
        let time = status.contentModificationTime
        var step: UInt32 = 1
        while step < 1_000_000_000, time.nanoseconds % (step * 10) == 0 { step *= 10 }
        return time.seconds == modified.seconds
            && time.nanoseconds == modified.nanoseconds / step * step
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
    }
}

extension FileLocation where Self: ~Copyable {
    /// Returns the record of an evicted file, with one `listxattr(2)`.
    ///
    /// - Returns: nil for an ordinary item, on filesystems without extended attributes, and if there
    ///   are more names than the kernel lists.
    /// - Throws: ``FileError`` as `extendedAttributeNames()` does, except for too many names.
    public func evictionRecord() throws(FileError) -> EvictionRecord? {
        EvictionRecord(among: try listedAttributeNames() ?? [])
    }
}

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
