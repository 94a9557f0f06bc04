import SystemPackage
import TextFormats

/// How a backup compares with the earlier snapshots of its SET.
package struct CoverageReport: Sendable {
    /// How less is covered; empty when no less is, or only what the owner excluded.
    package internal(set) var causes: [CoverageCause] = []
    /// What the owner excluded of what earlier snapshots have.
    package internal(set) var exclusions: [CoverageCause] = []
    /// The reasons to keep earlier snapshots, and the snapshots, as far as they are still there.
    package internal(set) var holds: [(hold: Hold, snapshot: Snapshot?)] = []
    /// The snapshot made before, if by the clock it is newer or 30 days older, or more; then all are held.
    package internal(set) var jumpedFrom: Snapshot?
    /// The newer snapshots that the plan could not be compared with, each with the reason.
    package internal(set) var incomparable: [(snapshot: Snapshot, reason: BackupError)] = []
    /// Items that had a protection class in the earlier snapshot and have none now.
    package internal(set) var unprotected: [RecordedProtection] = []
}

/// The way in which a backup covers less than the one before.
package enum CoverageCause: Sendable, Hashable {
    /// An item that an earlier snapshot has is excluded.
    ///
    /// - Parameters:
    ///   - sentence: the reason, in words.
    ///   - items: the number of items of it that the snapshot has.
    ///   - bytes: the sizes of the files among them, in bytes.
    case newlyExcluded(path: [UInt8], sentence: String, items: Int64, bytes: Int64)
    /// An item is excluded for the first time by a mark that a user other than the item's owner may
    /// have set, whether an earlier snapshot has it or there is none.
    case doubtfulMark(path: [UInt8], sentence: String)
    /// Many fewer items of a SOURCE are stored.
    case fewerItems([UInt8], before: Int64, now: Int64)
    /// Many fewer bytes of a SOURCE are stored.
    case fewerBytes([UInt8], before: Int64, now: Int64)
    /// A SOURCE is empty that was not empty before.
    case emptySource([UInt8])
    /// A SOURCE is on another filesystem than before.
    case otherFilesystem([UInt8], before: String, now: String)
    /// Many of the paths of a SOURCE that the snapshot before has are gone.
    case pathsGone([UInt8], gone: Int64, before: Int64)
    /// The records of earlier snapshots cannot be read, or were not made here: it is not known whether
    /// less is covered.
    ///
    /// - Parameter sentence: what is wrong, in words.
    case incomparable(sentence: String)

    /// A short name for the cause.
    package var name: String {
        switch self {
        case .newlyExcluded: "newly-excluded"
        case .doubtfulMark: "doubtful-mark"
        case .fewerItems: "fewer-items"
        case .fewerBytes: "fewer-bytes"
        case .emptySource: "empty-source"
        case .otherFilesystem: "other-filesystem"
        case .pathsGone: "paths-gone"
        case .incomparable: "incomparable"
        }
    }

    /// The item concerned; nil for the backup as a whole.
    package var path: [UInt8]? {
        switch self {
        case .newlyExcluded(let path, _, _, _), .emptySource(let path), .doubtfulMark(let path, _),
            .otherFilesystem(let path, _, _), .fewerItems(let path, _, _),
            .fewerBytes(let path, _, _), .pathsGone(let path, _, _):
            path
        case .incomparable: nil
        }
    }

    /// The cause in words, without the path.
    package var sentence: String {
        switch self {
        case .newlyExcluded(_, let sentence, let items, let bytes):
            "is newly excluded: \(sentence); the snapshot before contains "
                + "\(counted(items, "item")) of it with \(sizeText(bytes))"
        case .doubtfulMark(_, let sentence):
            "is excluded for the first time, and users other than its owner can set marks on it: "
                + sentence
        case .fewerItems(_, let before, let now):
            "its items fell from \(before) to \(now), by more than 20 %"
        case .fewerBytes(_, let before, let now):
            "its bytes fell from \(sizeText(before)) to \(sizeText(now)), by more than 20 %"
        case .emptySource: "is empty, and was not at the snapshot before"
        case .otherFilesystem(_, let before, let now):
            "is on another filesystem than at the snapshot before: \(now), not \(before)"
        case .pathsGone(_, let gone, let before):
            "\(gone) of the \(counted(before, "path")) of it in the snapshot before are gone, more than 20 %"
        case .incomparable(let sentence): sentence
        }
    }
}
