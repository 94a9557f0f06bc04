#if !canImport(Darwin)
import Foundation
import ResourceValues

extension FileProtectionType {
    /// Readable while unlocked, and for a grace time after the user leaves.
    public static let completeWhenUserInactive = FileProtectionType(.completeWhenUserInactive)

    /// The class in the words of file attributes, such as `NSFileProtectionComplete`.
    init(_ protection: FileProtection) {
        let name = protection.rawValue
        self.init(rawValue: "NSFileProtection" + name.prefix(1).uppercased() + name.dropFirst())
    }

    /// The class as it is stored; nil when the raw name is none of the constants'.
    var stored: FileProtection? {
        FileProtection.allCases.first { FileProtectionType($0).rawValue == rawValue }
    }
}

/// Lets a `switch` tell classes apart, though the type is not `Equatable` on Linux.
public func ~= (pattern: FileProtectionType, value: FileProtectionType) -> Bool {
    pattern.rawValue == value.rawValue
}
#endif
