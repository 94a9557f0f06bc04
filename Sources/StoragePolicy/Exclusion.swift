import SystemPackage

/// Whether a backup includes or excludes an item, and why.
public enum Exclusion: PolicyReason {
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
    /// Excluded: a directory above it is excluded, for `reason` (rule 1).
    indirect case inherited(from: FilePath, reason: Exclusion)

    /// Whether the item is excluded.
    public var isExcluded: Bool {
        switch self {
        case .unmarked, .markedFalse, .malformed, .hardLinked: false
        case .marked, .marker, .recreatable, .location, .inherited: true
        }
    }

    /// `unmarked`, `marked-false`, `malformed`, `hard-linked`, `marked`, `marker`, `location` or
    /// `inherited`.
    public var name: String {
        switch self {
        case .unmarked: "unmarked"
        case .markedFalse: "marked-false"
        case .malformed: "malformed"
        case .hardLinked: "hard-linked"
        case .marked: "marked"
        case .marker, .recreatable: "marker"
        case .location: "location"
        case .inherited: "inherited"
        }
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .unmarked: "nothing excludes it"
        case .markedFalse: "its mark includes it"
        case .malformed(let mark): "its mark is malformed and acts as false: \(mark)"
        case .hardLinked(let count?):
            "its mark does not count, because the file has \(count) hard links"
        case .hardLinked(nil):
            "its mark does not count, because the file may have more than one hard link"
        case .marked: "its mark excludes it"
        case .marker(let marker): "it is excluded by \(marker.meaning)"
        case .recreatable(let recreation): "re-creatable: \(recreation.proof)"
        case .location(let location): "it is \(location.kind.meaning)"
        case .inherited(_, let reason): "a directory above it is excluded: \(reason.sentence)"
        }
    }

    /// The kind of mark that excludes the item or the directory above; nil if a location excludes
    /// it, and for what is backed up.
    public var marker: Marker? {
        switch origin {
        case .marked: .native
        case .marker(let marker): marker
        case .recreatable: .rules
        default: nil
        }
    }

    /// The rule that excludes the item or the directory above; nil if another reason does, and for
    /// what is backed up.
    public var recreation: Recreation? {
        guard case .recreatable(let recreation) = origin else { return nil }
        return recreation
    }

    /// The excluded directory above; nil unless ``inherited(from:reason:)``.
    public var ancestor: FilePath? {
        guard case .inherited(let ancestor, _) = self else { return nil }
        return ancestor
    }

    /// The excluded directory's own reason, or the reason itself.
    public var origin: Exclusion {
        guard case .inherited(_, let reason) = self else { return self }
        return reason
    }
}
