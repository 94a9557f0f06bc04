import ResourceValues
import StoragePolicy
import SystemPackage

/// An item that stores a protection class, which holds for everything below it too.
public struct ProtectedItem: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// The class; `complete` for one that cannot be understood.
    public let protectionClass: FileProtection
}

extension EffectiveProtection {
    /// The class that the item itself stores, when it is one that keeps contents from strangers.
    var ownClass: FileProtection? {
        switch self {
        case .marked, .malformed: forbidsPlaintext ? protectionClass : nil
        case .unmarked, .inherited: nil
        }
    }
}
