/// How short space is on a volume.
public enum StoragePressure: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough.
    case normal
    /// Space begins to run short: purge what may go.
    case low
    /// Hardly anything is left: stop what is not needed.
    case critical

    /// Whether one is less than another.
    public static func < (first: StoragePressure, second: StoragePressure) -> Bool {
        first.rawValue < second.rawValue
    }

    /// `normal`, `low` or `critical`.
    public var name: String {
        switch self {
        case .normal: "normal"
        case .low: "low"
        case .critical: "critical"
        }
    }
}
