import ResourceValues
import StoragePolicy
import SystemPackage

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
