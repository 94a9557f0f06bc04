#if !canImport(Darwin)
import ResourceValues

/// A protection class, which says when a file's content may be readable.
///
/// Nothing on Linux enforces a class yet. It is a declaration that tools honour: a backup never
/// writes an item with a class other than ``none`` in plaintext.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLFileProtectionComplete`.
    public let rawValue: String

    /// Creates a class from its raw name.
    ///
    /// A name that no constant has cannot be stored: setting it throws
    /// `CocoaError.featureUnsupported`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Always readable.
    public static let none = URLFileProtection(.none)
    /// Readable only while the device is unlocked.
    public static let complete = URLFileProtection(.complete)
    /// Opened only while unlocked; open files stay usable after locking.
    public static let completeUnlessOpen = URLFileProtection(.completeUnlessOpen)
    /// Readable from the first unlock after boot.
    public static let completeUntilFirstUserAuthentication = URLFileProtection(
        .completeUntilFirstUserAuthentication)
    /// Readable while unlocked, and for a grace period after the user leaves.
    public static let completeWhenUserInactive = URLFileProtection(.completeWhenUserInactive)
}

private let prefix = "NSURLFileProtection"

extension URLFileProtection {
    /// Creates a class with Foundation's raw name.
    init(_ protection: FileProtection) {
        let name = protection.rawValue
        self.init(rawValue: prefix + name.prefix(1).uppercased() + name.dropFirst())
    }

    /// The class as it is stored; nil when no constant has the raw name.
    var stored: FileProtection? {
        FileProtection.allCases.first { URLFileProtection($0) == self }
    }
}
#endif
