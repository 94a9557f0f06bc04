/// The kind of item that is deleted, in order of deletion: lower classes first.
public enum PurgeClass: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// Temporary files.
    case temporary
    /// Caches.
    case caches
    /// Items whose own mark allows deletion.
    case marked

    /// Whether the first class is deleted before the second.
    public static func < (first: PurgeClass, second: PurgeClass) -> Bool {
        first.rawValue < second.rawValue
    }

    /// The class's name: `temporary`, `caches` or `marked`.
    public var name: String {
        switch self {
        case .temporary: "temporary"
        case .caches: "caches"
        case .marked: "marked"
        }
    }
}
