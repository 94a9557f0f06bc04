/// How short space is, which decides how old items must be.
public enum PurgePressure: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough space. Only temporary files are deleted, and only old ones.
    case normal
    /// Space is short, or more of it was requested.
    case low
    /// Hardly any space is left.
    case critical

    /// Whether the first pressure is lower than the second.
    public static func < (first: PurgePressure, second: PurgePressure) -> Bool {
        first.rawValue < second.rawValue
    }

    /// The pressure's name: `normal`, `low` or `critical`.
    public var name: String {
        switch self {
        case .normal: "normal"
        case .low: "low"
        case .critical: "critical"
        }
    }
}
