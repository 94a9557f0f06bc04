import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// An item that a backup excludes.
public struct ExcludedItem: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// Whether the item is a directory, whose own entry is stored.
    public let isDirectory: Bool
    /// Why the item is excluded.
    public let reason: ExclusionReason
}

/// An evicted file of which a backup does not have the whole content.
public struct FileWithoutContent: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// The size of the content, in bytes.
    public let size: Int64
    /// The modification time of the content; nil if unknown.
    public let modified: FileTime?
}

/// An item that stores a protection class, which applies to everything below it too.
public struct ProtectedItem: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// The class; `complete` for one that is not valid.
    public let protectionClass: FileProtection
}

extension EffectiveProtection {
    /// The class that the item itself stores, when that class forbids storing the item in
    /// plaintext; otherwise nil.
    var ownClass: FileProtection? {
        switch self {
        case .marked, .malformed: forbidsPlaintext ? protectionClass : nil
        case .unmarked, .inherited: nil
        }
    }
}

/// An item with extended attributes that a restore must set: all except those that the
/// kernel assigns itself (`security.selinux`).
public struct AttributedItem: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// The digest of names and values, see ``AttributeDigest``; nil if not all values can be read.
    public let digest: String?
    /// Whether a name is not UTF-8.
    public let hasNameOtherThanUTF8: Bool
    /// The values by name of an item that its owner may not write to: restic sets no attributes on
    /// it for an ordinary user. Empty for other items, if a value cannot be read or a name is not
    /// UTF-8, and for more than 4,096 bytes of values.
    public let values: [ExtendedAttributeName: [UInt8]]

    /// Creates a description.
    ///
    /// - Parameter attributes: nil if they cannot be listed.
    init(path: FilePath, _ attributes: AttributeDigest?, isReadOnly: Bool) {
        self.path = path
        digest = attributes?.hexadecimal
        let values = attributes?.values ?? [:]
        hasNameOtherThanUTF8 = (attributes?.names ?? []).contains {
            String(validating: $0.bytes, as: UTF8.self) == nil
        }
        let isKept = isReadOnly && digest != nil && !hasNameOtherThanUTF8
        self.values = isKept && values.values.joined().count <= 4096 ? values : [:]
    }
}

/// A digest of an item's extended attributes: the SHA-256, in hexadecimal, of all attributes sorted
/// by the bytes of their names. Each contributes its name, a NUL, the size of its value in decimal
/// digits, a NUL, and the value.
public struct AttributeDigest: Sendable, Hashable {
    /// The digest; nil if not all values can be read.
    public let hexadecimal: String?
    /// The names of the attributes.
    public let names: [ExtendedAttributeName]
    /// The values that can be read.
    public let values: [ExtendedAttributeName: [UInt8]]

    /// Reads the attributes of an item.
    ///
    /// - Throws: the error of listing them.
    public init(of location: borrowing some FileLocation & ~Copyable) throws(FileError) {
        names = try location.extendedAttributeNames()
            .filter { !$0.bytes.elementsEqual("security.selinux".utf8) }
        var values: [ExtendedAttributeName: [UInt8]] = [:]
        var isWhole = true
        for name in names {
            do throws(FileError) {
                // An attribute removed since the listing cannot be stored.
                guard let value = try location.extendedAttribute(named: name) else { continue }
                values[name] = value
            } catch {
                isWhole = false
            }
        }
        self.values = values
        hexadecimal = isWhole ? Self.hexadecimal(of: values.map { ($0.key.bytes, $0.value) }) : nil
    }

    /// Returns the digest of attributes given in any order.
    package static func hexadecimal(of attributes: [(name: [UInt8], value: [UInt8])]) -> String {
        let sorted = attributes.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        let bytes = sorted.flatMap { name, value in
            name + [0] + [UInt8]("\(value.count)".utf8) + [0] + value
        }
        return SHA256.digest(of: bytes)
    }
}

extension FilePath {
    /// Whether this path comes before another, byte by byte.
    func precedes(_ other: FilePath) -> Bool {
        withPlatformString { first in
            other.withPlatformString { second in
                var index = 0
                while first[index] == second[index] && first[index] != 0 { index += 1 }
                return UInt8(bitPattern: first[index]) < UInt8(bitPattern: second[index])
            }
        }
    }
}
