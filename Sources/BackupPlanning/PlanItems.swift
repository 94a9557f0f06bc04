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
