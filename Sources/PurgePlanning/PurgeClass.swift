/// What kind of thing is deleted, and so when its turn comes: lower ones first.
public enum PurgeClass: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// Temporary files.
    case temporary
    /// Caches.
    case caches
    /// What a mark on the item itself says may go.
    case marked

    /// Whether one comes before another.
    public static func < (first: PurgeClass, second: PurgeClass) -> Bool {
        first.rawValue < second.rawValue
    }

    /// `temporary`, `caches` or `marked`.
    public var name: String {
        switch self {
        case .temporary: "temporary"
        case .caches: "caches"
        case .marked: "marked"
        }
    }
}
