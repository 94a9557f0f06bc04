/// A protection class of a file: when its content may be readable.
///
/// Unless a volume enforces them, classes are declarations that tools honour: a backup never writes
/// an item with a class other than ``none`` in plaintext.
public enum FileProtection: String, Sendable, Hashable, CaseIterable {
    /// Readable only while the device is unlocked.
    case complete
    /// Can be opened only while unlocked; open files stay usable after locking.
    case completeUnlessOpen
    /// Readable from the first unlock after boot.
    case completeUntilFirstUserAuthentication
    /// Readable while unlocked, and for a grace period after the user leaves.
    case completeWhenUserInactive
    /// Always readable.
    case none
}
