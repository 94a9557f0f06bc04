import SystemPackage
import TextFormats

/// How a backup compares with the earlier snapshots of its SET.
package struct CoverageReport: Sendable {
    /// How less is covered; empty when no less is, or only what the owner excluded.
    package internal(set) var causes: [CoverageCause] = []
    /// What the owner excluded of what earlier snapshots have.
    package internal(set) var exclusions: [CoverageCause] = []
    /// The reasons to keep earlier snapshots, and the snapshots, as far as they are still there.
    package internal(set) var holds: [HeldSnapshot] = []
    /// The snapshot made before, if by the clock it is newer or 30 days older, or more; then all are held.
    package internal(set) var jumpedFrom: Snapshot?
    /// The newer snapshots that the plan could not be compared with, each with the reason.
    package internal(set) var incomparable: [(snapshot: Snapshot, reason: BackupError)] = []
    /// Items that had a protection class in the earlier snapshot and have none now.
    package internal(set) var unprotected: [RecordedProtection] = []
}

/// The way in which a backup covers less than the one before.
package struct CoverageCause: Sendable, Hashable {
    /// A short name for the cause.
    package let name: String
    /// The item concerned; nil for the backup as a whole.
    package let path: [UInt8]?
    /// The cause in words, without the path.
    package let sentence: String

    /// An item that an earlier snapshot has is excluded.
    ///
    /// - Parameters:
    ///   - reason: in words.
    ///   - amount: how much of it the snapshot has.
    static func newlyExcluded(_ path: [UInt8], _ reason: String, _ amount: Amount) -> Self {
        Self(
            name: "newly-excluded", path: path,
            sentence: "is newly excluded: \(reason); the snapshot before contains "
                + "\(counted(amount.items, "item")) of it with \(sizeText(amount.bytes))")
    }

    /// An item is excluded for the first time by a mark that a user other than the item's owner may have
    /// set, whether or not an earlier snapshot has it.
    static func doubtfulMark(_ path: [UInt8], _ reason: String) -> Self {
        Self(
            name: "doubtful-mark", path: path,
            sentence:
                "is excluded for the first time, and users other than its owner can set marks on it: "
                + reason)
    }

    /// A SOURCE fell.
    static func fall(_ fall: RecordedSource.Fall, of source: RecordedSource) -> Self {
        let (now, before) = (source.amount, source.expected)
        let (name, sentence) =
            switch fall {
            case .filesystem:
                (
                    "other-filesystem",
                    "is on another filesystem than at the snapshot before: \(source.filesystem), not "
                        + source.expectedFilesystem
                )
            case .items where source.isEmpty:
                ("empty-source", "is empty, and was not at the snapshot before")
            case .items:
                (
                    "fewer-items",
                    "its items fell from \(before.items) to \(now.items), by more than 20 %"
                )
            case .bytes:
                (
                    "fewer-bytes",
                    "its bytes fell from \(sizeText(before.bytes)) to \(sizeText(now.bytes)), by more than "
                        + "20 %"
                )
            }
        return Self(name: name, path: source.path, sentence: sentence)
    }

    /// Many of the paths of a SOURCE that the snapshot before has are gone.
    static func pathsGone(_ path: [UInt8], gone: Int64, before: Int64) -> Self {
        Self(
            name: "paths-gone", path: path,
            sentence:
                "\(gone) of the \(counted(before, "path")) of it in the snapshot before are gone, "
                + "more than 20 %")
    }

    /// The records of earlier snapshots cannot be read, or were not made here: it is not known whether less
    /// is covered.
    static func incomparable(_ sentence: String) -> Self {
        Self(name: "incomparable", path: nil, sentence: sentence)
    }
}
