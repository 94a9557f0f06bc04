import ResourceValues

/// The protection class that applies to an item, and why: its own, or that of the nearest directory
/// above that stores one.
public typealias EffectiveProtection = Effective<ProtectionCause>

/// The protection class that an item stores.
public enum ProtectionCause: PolicyCause {
    /// No class.
    case unmarked
    /// The class stored on the item.
    case marked(FileProtection)
    /// The stored class is malformed or cannot be read, and acts as `complete`.
    indirect case malformed(BrokenMark)

    /// The class, or nil. `none` is a class.
    public var protectionClass: FileProtection? {
        switch self {
        case .unmarked: nil
        case .marked(let value): value
        case .malformed: .complete
        }
    }

    /// Whether the item must not be written in plaintext: it has a class other than `none`.
    public var forbidsPlaintext: Bool {
        guard let protectionClass else { return false }
        return protectionClass != .none
    }

    /// Whether the class prevents deletion of the item when space is short: true for a class other
    /// than `none`, unless a mark permits the deletion.
    ///
    /// - Parameter isMarkedPurgeable: whether an effective mark permits the deletion, on the item
    ///   or on an ancestor that is deleted as a unit.
    public func keepsItem(isMarkedPurgeable: Bool) -> Bool {
        forbidsPlaintext && !isMarkedPurgeable
    }

    /// `unmarked`, `marked`, `malformed` or `unreadable`.
    public var name: String {
        switch self {
        case .unmarked: "unmarked"
        case .marked: "marked"
        case .malformed(let mark): mark.isUnreadable ? "unreadable" : "malformed"
        }
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .unmarked: "no protection class is stored"
        case .marked(let value): "its class is \(value.rawValue)"
        case .malformed(let mark): "its class \(mark.fault) and acts as complete: \(mark)"
        }
    }
}
