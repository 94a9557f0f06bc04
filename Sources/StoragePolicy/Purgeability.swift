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
    /// Kept: its mark is `true`, and does not count where it is.
    case objection(PurgeObjection)

    /// Whether the item may be deleted.
    public var isPurgeable: Bool { self == .marked }

    /// Whether a mark pins the item, so that no rule about age or location may delete it.
    public var isProtected: Bool {
        switch self {
        case .markedFalse, .malformed: true
        case .unmarked, .marked, .objection: false
        }
    }

    /// Whether entries of a directory inherit it.
    public var isInherited: Bool { self != .unmarked && self != .objection(.holdsProtected) }

    /// `unmarked`, `marked-false`, `malformed`, `unreadable`, `marked`, or the name of an objection.
    public var name: String {
        switch self {
        case .unmarked: "unmarked"
        case .markedFalse: "marked-false"
        case .malformed(let mark): mark.isUnreadable ? "unreadable" : "malformed"
        case .marked: "marked"
        case .objection(let objection): objection.rawValue
        }
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .unmarked: "no mark says that it may be deleted"
        case .markedFalse: "it is pinned: isPurgeable=false"
        case .malformed(let mark): "its mark \(mark.fault) and acts as false: \(mark)"
        case .marked: "its mark says that it may be deleted"
        case .objection(let objection): "its mark does not count: \(objection.sentence)"
        }
    }
}

/// Why a mark that permits deletion does not count for purging.
public enum PurgeObjection: String, Sendable, Hashable, CaseIterable {
    /// The item is, or is in, a directory that is never purged.
    case protectedDirectory = "protected-directory"
    /// The item is a home, or contains a home, a location or a directory that is never purged. What
    /// is in it may still be marked by itself.
    case holdsProtected = "holds-protected"
    /// Users other than the owner could have set the mark, or another program fills the directory.
    case untrustedMark = "untrusted-mark"
    /// Settings that say which directories are never purged cannot be read.
    case unreadableSettings = "unreadable-settings"

    /// The objection in words.
    public var sentence: String {
        switch self {
        case .protectedDirectory: "it is in a directory that is never purged"
        case .holdsProtected: "it is or contains a directory that is never purged"
        case .untrustedMark: "others could have set it, or fill a directory above"
        case .unreadableSettings:
            "settings that say what is never purged cannot be read (resval-purge status says which)"
        }
    }
}
