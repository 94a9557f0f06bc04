import StoragePolicy
import SystemCalls

/// What a directory passes to its entries while purgeable units are looked for.
struct PurgeContext: Sendable {
    /// Where a directory lies.
    enum Place: Sendable, Hashable {
        /// In no location whose content may go for being there.
        case elsewhere
        /// In a directory for temporary files; whether they shall outlast a boot.
        case temporary(keepsLonger: Bool)
        /// In a directory for caches; the names from there on down.
        case caches([[UInt8]])
    }

    /// What marks above pass on.
    var policy: PolicyContext
    /// Where the directory lies.
    var place: Place
    /// The unit the directory belongs to; nil outside units.
    var unit: UnitTally?
    /// What tmpfiles.d may say of entries.
    var keptPaths = KeptPaths.Position()
    /// Whether marks below count: not in the stores of other programs.
    var trustsMarks = true
    /// Whether it lies where marks say that something may go.
    var heedsMarks = true
    /// Whether it is, or lies in, a directory of its unit with a mark that counts and says that it may
    /// go.
    var isMarked = false
}
