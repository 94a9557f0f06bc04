/// Whether a backup includes or excludes an item, and why. What a directory above excludes is
/// excluded whatever marks it has itself (rule 1).
public typealias Exclusion = Effective<ExclusionCause>

/// What includes or excludes an item by itself.
public enum ExclusionCause: PolicyCause {
    /// Backed up: nothing excludes it (rule 5).
    case unmarked
    /// Backed up: its native mark is `false`, which overrides foreign marks and locations (rule 2).
    case markedFalse
    /// Backed up: its native mark is malformed or cannot be read, which acts as `false` (rule 2).
    indirect case malformed(BrokenMark)
    /// Backed up although a mark excludes it: the regular file has more than one hard link, or an
    /// unknown number (nil), and must not vanish from the backup under its other names.
    case hardLinked(linkCount: Int?)
    /// Excluded: its native mark is `true` (rule 2).
    case marked
    /// Excluded: another program's mark excludes it (rule 3).
    case marker(Marker)
    /// Excluded: a rule of ``Marker/rules`` fits (rule 3).
    indirect case recreatable(Recreation)
    /// Excluded: it is a location that is never backed up (rule 4).
    case location(StorageLocation)

    /// Whether the item is excluded.
    public var isExcluded: Bool {
        switch self {
        case .unmarked, .markedFalse, .malformed, .hardLinked: false
        case .marked, .marker, .recreatable, .location: true
        }
    }

    /// A directory above is excluded.
    public static var meaningBelow: String { "a directory above it is excluded" }

    /// `unmarked`, `marked-false`, `malformed`, `unreadable`, `hard-linked`, `marked`, `marker` or `location`.
    public var name: String {
        switch self {
        case .unmarked: "unmarked"
        case .markedFalse: "marked-false"
        case .malformed(let mark): mark.isUnreadable ? "unreadable" : "malformed"
        case .hardLinked: "hard-linked"
        case .marked: "marked"
        case .marker, .recreatable: "marker"
        case .location: "location"
        }
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .unmarked: "nothing excludes it"
        case .markedFalse: "its mark includes it"
        case .malformed(let mark): "its mark \(mark.fault) and acts as false: \(mark)"
        case .hardLinked(let count?):
            "its mark does not count, because the file has \(count) hard links"
        case .hardLinked(nil):
            "its mark does not count, because the file may have more than one hard link"
        case .marked: "its mark excludes it"
        case .marker(let marker): "it is excluded by \(marker.meaning)"
        case .recreatable(let recreation): "re-creatable: \(recreation.proof)"
        case .location(let location): "it is \(location.kind.meaning)"
        }
    }

    /// The kind of mark that excludes the item; nil if a location excludes it, and for what is
    /// backed up.
    public var marker: Marker? {
        switch self {
        case .marked: .native
        case .marker(let marker): marker
        case .recreatable: .rules
        default: nil
        }
    }
}
