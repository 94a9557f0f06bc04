import StoragePolicy
import SystemCalls

/// What a directory passes to its entries while units are searched.
struct PurgeContext: Sendable {
    /// The kind of location a directory lies in.
    enum Place: Sendable, Hashable {
        /// In no location whose content may be deleted because of where it lies.
        case elsewhere
        /// In a directory for temporary files; whether these are meant to survive a reboot.
        case temporary(keepsLonger: Bool)
        /// In a directory for caches; the names that lead from there to this directory.
        case caches([[UInt8]])
    }

    /// What the marks of the directories above pass on.
    var policy: PolicyContext
    /// The kind of location the directory lies in.
    var place: Place
    /// The unit the directory belongs to; nil outside units.
    var unit: UnitTally?
    /// Whether the directory is the top of its unit.
    var isTopOfUnit = false
    /// What tmpfiles.d may say about entries.
    var keptPaths = KeptPaths.Position()
    /// Whether marks below are trusted: they are not in directories that other programs fill.
    var trustsMarks = true
    /// Whether the directory lies where marks allow deletion.
    var heedsMarks = true
    /// Whether the directory is, or lies in, a directory of its unit with an `isPurgeable` mark
    /// that counts.
    var isMarked = false
}
