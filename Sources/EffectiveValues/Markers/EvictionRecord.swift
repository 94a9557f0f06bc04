import ResourceValues
import SystemCalls

/// The record of an evicted file: an extended attribute whose name says where the content is.
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

    private static let prefix = "user.resval.evicted."

    /// Creates a record from full identifiers.
    ///
    /// - Returns: nil if one of the first 16 characters of an identifier is missing or is not a
    ///   lowercase hexadecimal digit, or if `item` is negative.
    package init?(repository: String, snapshot: String, item: Int) {
        self.repository = String(repository.prefix(16))
        self.snapshot = String(snapshot.prefix(16))
        self.item = item
        guard Self.isNumber(self.repository), Self.isNumber(self.snapshot), item >= 0 else {
            return nil
        }
    }

    /// Creates a record from an attribute's name; nil if the name is not that of a record.
    package init?(attribute name: some Collection<UInt8>) {
        guard name.starts(with: Self.prefix.utf8) else { return nil }
        let parts = String(decoding: name.dropFirst(Self.prefix.utf8.count), as: UTF8.self)
            .split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count == 16, parts[1].count == 16,
            let item = Int(parts[2])
        else { return nil }
        self.init(repository: String(parts[0]), snapshot: String(parts[1]), item: item)
        guard attribute.bytes.elementsEqual(name) else { return nil }
    }

    /// Creates a record from the first attribute name that is one; nil when there is none.
    package init?(among names: some Sequence<[UInt8]>) {
        guard let record = names.lazy.compactMap({ EvictionRecord(attribute: $0) }).first else {
            return nil
        }
        self = record
    }

    /// The attribute's name.
    package var attribute: ExtendedAttributeName {
        ExtendedAttributeName("\(Self.prefix)\(repository).\(snapshot).\(item)")
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
    }
}

extension FileLocation where Self: ~Copyable {
    /// Returns the record of an evicted file, with one `listxattr(2)`.
    ///
    /// - Returns: nil for an ordinary item, and on filesystems without extended attributes.
    /// - Throws: ``FileError`` as `extendedAttributeNames()` does.
    public func evictionRecord() throws(FileError) -> EvictionRecord? {
        do throws(FileError) {
            return EvictionRecord(among: try extendedAttributeNames().map(\.bytes))
        } catch  where error.code == .unsupportedFilesystem {
            return nil
        }
    }
}
