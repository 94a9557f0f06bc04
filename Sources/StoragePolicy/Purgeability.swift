import SystemPackage

/// Whether an item may be deleted when space is short, and why.
public enum Purgeability: PolicyReason {
    /// Kept: no mark permits its deletion.
    case unmarked
    /// Pinned: its mark is `false`, which pins it and everything below.
    case markedFalse
    /// Pinned: its mark is malformed or cannot be read, and acts as `false`.
    indirect case malformed(BrokenMark)
    /// May be deleted: its mark is `true`.
    case marked
    /// Decided by a directory above: kept, or part of the unit of that directory.
    indirect case inherited(from: FilePath, reason: Purgeability)

    /// Whether the item may be deleted.
    public var isPurgeable: Bool { origin == .marked }

    /// Whether a mark pins the item, so that no rule about age or location may delete it.
    public var isProtected: Bool {
        switch origin {
        case .markedFalse, .malformed: true
        case .unmarked, .marked, .inherited: false
        }
    }

    /// `unmarked`, `marked-false`, `malformed`, `marked` or `inherited`.
    public var name: String {
        switch self {
        case .unmarked: "unmarked"
        case .markedFalse: "marked-false"
        case .malformed: "malformed"
        case .marked: "marked"
        case .inherited: "inherited"
        }
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .unmarked: "no mark says that it may be deleted"
        case .markedFalse: "it is pinned: isPurgeable=false"
        case .malformed(let mark): "its mark is malformed and acts as false: \(mark)"
        case .marked: "its mark says that it may be deleted"
        case .inherited(_, let reason): "a directory above decides: \(reason.sentence)"
        }
    }

    /// The ancestor that decides; nil unless ``inherited(from:reason:)``.
    public var ancestor: FilePath? {
        guard case .inherited(let ancestor, _) = self else { return nil }
        return ancestor
    }

    /// The reason at the ancestor, or the reason itself.
    public var origin: Purgeability {
        guard case .inherited(_, let reason) = self else { return self }
        return reason
    }
}
