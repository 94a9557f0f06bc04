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

    /// Returns an error of a change, with what to do where the file is evicted.
    package func explaining(_ error: FileError) -> FileError {
        guard error.code == .permissionDenied, (try? evictionRecord()) != nil else { return error }
        return .evicted(pathForMessages, error.errno ?? .permissionDenied)
    }

    /// Throws `permissionDenied` for an evicted file: with another time or mode it would be no placeholder
    /// any more, and could not be downloaded.
    package func requireNotEvicted() throws(FileError) {
        if try evictionRecord() != nil { throw .evicted(pathForMessages, .permissionDenied) }
    }
}

extension FileStatus {
    /// The permission bits for a file that takes the place of this one: those it had before it was evicted.
    ///
    /// - Parameter record: the file's record; nil if it has none.
    func permissions(before record: EvictionRecord?) -> UInt16 {
        guard let record, permissions & 0o777 == 0 else { return permissions }
        return permissions | record.permissions
    }
}

extension FileError {
    /// Nothing can be stored on a file without permission bits, and giving it some would show zeros as its
    /// content.
    static func evicted(_ path: FilePath?, _ errno: Errno) -> FileError {
        let file = path.map { ShellWord.quoted($0.bytes) } ?? ""
        return FileError(
            code: .permissionDenied, message: "the file is evicted, so nothing can be stored on it",
            advice: "first: resval-backup download \(file)", path: path, errno: errno)
    }
}
