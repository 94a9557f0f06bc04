#if !canImport(Darwin)
import Foundation
import ResourceValues

extension FileProtectionType {
    /// Readable while unlocked, and for a grace period after the user leaves.
    public static let completeWhenUserInactive = FileProtectionType(.completeWhenUserInactive)

    /// Creates a class with the raw name of file attributes, such as `NSFileProtectionComplete`.
    init(_ protection: FileProtection) {
        let name = protection.rawValue
        self.init(rawValue: "NSFileProtection" + name.prefix(1).uppercased() + name.dropFirst())
    }

    /// The class as it is stored; nil when no constant has the raw name.
    var stored: FileProtection? {
        FileProtection.allCases.first { FileProtectionType($0).rawValue == rawValue }
    }
}

/// Matches classes in a `switch`, since the type is not `Equatable` on Linux.
public func ~= (pattern: FileProtectionType, value: FileProtectionType) -> Bool {
    pattern.rawValue == value.rawValue
}
#endif
