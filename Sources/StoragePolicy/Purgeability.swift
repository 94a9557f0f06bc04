/// Whether an item may be deleted when space is short, and why. What a directory above decides is
/// kept, or part of the unit of that directory.
public typealias Purgeability = Effective<PurgeabilityCause>

/// What keeps an item, or permits its deletion, by itself.
public enum PurgeabilityCause: PolicyCause {
    /// Kept: no mark permits its deletion.
    case unmarked
    /// Pinned: its mark is `false`, which pins it and everything below.
    case markedFalse
    /// Pinned: its mark is malformed or cannot be read, and acts as `false`.
    indirect case malformed(BrokenMark)
    /// May be deleted: its mark is `true`.
    case marked

    /// Whether the item may be deleted.
    public var isPurgeable: Bool { self == .marked }

    /// Whether a mark pins the item, so that no rule about age or location may delete it.
    public var isProtected: Bool {
        switch self {
        case .markedFalse, .malformed: true
        case .unmarked, .marked: false
        }
    }

    /// `unmarked`, `marked-false`, `malformed` or `marked`.
    public var name: String {
        switch self {
        case .unmarked: "unmarked"
        case .markedFalse: "marked-false"
        case .malformed: "malformed"
        case .marked: "marked"
        }
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .unmarked: "no mark says that it may be deleted"
        case .markedFalse: "it is pinned: isPurgeable=false"
        case .malformed(let mark): "its mark is malformed and acts as false: \(mark)"
        case .marked: "its mark says that it may be deleted"
        }
    }
}
