/// How short space is, and so how young what is deleted may be.
public enum PurgePressure: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough. Only temporary files go, and only when they are old.
    case normal
    /// Space is short, or somebody asks for more of it.
    case low
    /// Hardly any is left.
    case critical

    /// Whether one is less than another.
    public static func < (first: PurgePressure, second: PurgePressure) -> Bool {
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
