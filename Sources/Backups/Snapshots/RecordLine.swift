import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A line of a snapshot's record.
package enum RecordLine: Sendable, Hashable {
    /// The facts of the backup as a whole, without its SOURCEs.
    case facts(RecordFacts)
    /// The place of the snapshot in its SET.
    case place(RecordedPlace)
    /// A SOURCE.
    case source(RecordFacts.Source)
    /// An item with a protection class.
    case protected(RecordedProtection)
    /// A reason to keep an earlier snapshot.
    case hold(Hold)
    /// A path that was to be stored and was not, with everything below it.
    case unstored([UInt8])
    /// Whether the snapshot with an identifier was judged after it was made, and lacks nothing; and
    /// ``RecordedPlace/judged`` since then.
    case verdict(of: String, judged: Int64, isJudged: Bool, isComplete: Bool)
    /// A path that earlier snapshots have and that was not there, or was deleted.
    case absent([UInt8], isDeleted: Bool)
    /// A former SOURCE that fell and has not come back.
    case fallen([UInt8])
    /// A way in which the snapshot covers less than the previous one.
    case coverage(RecordedCause)
    /// An evicted file whose content is not in the snapshot, though the file itself may be, stored
    /// with holes. Its size in bytes and modification time identify the content in other snapshots.
    /// The path is empty in lines written by older versions; the time is nil if unknown.
    case missing(path: [UInt8], size: Int64, modified: FileTime?)
    /// An evicted file whose content is in the snapshot.
    case kept(KeptFile)
    /// An excluded item.
    case excluded(RecordedExclusion)
}

/// An item that a backup excluded, as recorded.
package struct RecordedExclusion: Sendable, Hashable {
    /// The absolute path's bytes.
    package var path: [UInt8] = []
    /// Whether it is a directory, whose own entry is stored.
    package var isDirectory = false
    /// A short name for the reason, as printed by `plan`.
    package var reason = ""
    /// The reason in words.
    package var sentence = ""
    /// Whether its owner decided it; nil for an item of which nothing is missing.
    package var isOwners: Bool?

    /// The record of an evicted file; nil for other items, and in lines written by older versions.
    package var record: EvictionRecord?
    /// The owner of an evicted file; nil if unknown.
    package var owner: UInt32?
    /// The size of an evicted file, in bytes.
    package var size: Int64 = 0

    /// Whether it is an evicted file, whose content is in a separate snapshot.
    package var isEvicted: Bool { reason == "evicted" }
}

/// The place of a snapshot in its SET, as recorded.
package struct RecordedPlace: Sendable, Hashable {
    /// See ``RecordedSnapshot/predecessorDate``.
    package var predecessorDate: Int64?
    /// See ``RecordedSnapshot/inOrder``.
    package var inOrder = 0
    /// The number of the snapshot judged last, in which restic named what ``RecordFacts/Source/named`` says.
    package var judged: Int64 = 0
    /// The SET and the number, which the snapshot's tags give, too.
    package var set = ""
    package var number: Int64 = 0
}

/// A way in which a snapshot covers less than the previous one, as recorded.
package struct RecordedCause: Sendable, Hashable {
    /// The absolute path's bytes; nil if the cause concerns the snapshot as a whole.
    package var path: [UInt8]?
    /// A short name for the cause.
    package var cause = ""
    /// The cause in words.
    package var sentence = ""
}

/// An item with a protection class, as recorded.
package struct RecordedProtection: Sendable, Hashable {
    /// The absolute path's bytes.
    package var path: [UInt8] = []
    /// The name of the class.
    package var protectionClass = ""
}

/// A handler that receives the lines of a record one by one.
package protocol RecordHandler: Sendable {
    /// Receives a line. Excluded items come last, in the order of a snapshot's entries.
    mutating func receive(_ line: RecordLine) throws(BackupError)
}

/// The facts in a snapshot's record about the backup as a whole.
package struct RecordFacts: Sendable, Hashable {
    /// The facts about one SOURCE.
    package struct Source: Sendable, Hashable {
        /// The real path.
        package var path: [UInt8]
        /// The type of its filesystem, with the UUID if that is stable across reboots:
        /// `ext4 0b9d2a…`. Empty if unknown.
        package var filesystem = ""
        /// Whether it is an empty directory.
        package var isEmpty = false
        /// Whether it did not exist.
        package var isMissing = false
        /// How much of it there is.
        package var amount = Amount()
        /// What a fall is measured by: what there was of it when it was last there as a whole.
        package var expected = Baseline()
        /// How it fell; nil unless it is much less than expected.
        package var fall: Fall?
        /// Whether so many of its paths went at once that its content may have; until it is accepted.
        package var pathsGone = false
        /// The number of its files and directories that restic named in the snapshot judged last; nil if
        /// that is not known.
        package var named: Int64?

        /// Whether earlier snapshots may have what this one lacks of it.
        var hasFallen: Bool { fall != nil || pathsGone }
    }

    /// How much there is of a SOURCE, including evicted files, whose content is in other snapshots.
    package struct Amount: Sendable, Hashable {
        package var items: Int64 = 0
        package var bytes: Int64 = 0
        /// The number of evicted files.
        package var evicted: Int64 = 0
    }

    /// How much there was of a SOURCE, and on which filesystem.
    package struct Baseline: Sendable, Hashable {
        package var items: Int64 = 0
        package var bytes: Int64 = 0
        package var filesystem = ""
    }

    /// What fell of a SOURCE.
    package enum Fall: String, Sendable, Hashable {
        case items, bytes, filesystem
    }

    /// The number of items to be stored, including directories and evicted files, whose content is
    /// in separate snapshots.
    package var items: Int64 = 0
    /// The total size of the files among them, in bytes.
    package var bytes: Int64 = 0
    /// The number of excluded items; a directory counts once.
    package var excludedItems: Int64 = 0
    /// The names of the marks that exclude items, sorted.
    package var markers: [String] = []
    /// Whether temporary and caches directories were excluded.
    package var usesLocations = true
    /// The SOURCEs, in the plan's order.
    package var sources: [Source] = []

    package init() {}

    /// Creates the facts of a plan, and inspects its SOURCEs.
    ///
    /// - Parameter missing: the SOURCEs that do not exist.
    package init(_ plan: BackupPlan, policy: StoragePolicy, missing: [FilePath] = []) {
        let withoutContent = Set(plan.filesWithoutContent.map(\.path))
        let placeholders = plan.exclusions.compactMap { item in
            item.reason.placeholder.flatMap {
                withoutContent.contains(item.path) ? nil : (path: item.path, size: $0.size)
            }
        }
        sources = zip(plan.sources, plan.sourceTotals).map { path, totals in
            var source = Source(lookingAt: path)
            source.amount = Amount(
                items: Int64(totals.storedItems), bytes: totals.storedBytes)
            for file in placeholders where isHeld(file.path.bytes, by: path.bytes) {
                source.amount.items += 1
                source.amount.evicted += 1
                source.amount.bytes.addSaturating(file.size)
            }
            return source
        }
        items = sources.reduce(0) { $0 + $1.amount.items }
        bytes = sources.reduce(0) { $0.addingSaturating($1.amount.bytes) }
        sources += missing.map { Source(path: $0.bytes, isMissing: true) }
        excludedItems = Int64(plan.totals.excludedItems)
        markers = policy.markers.map(\.rawValue).sorted()
        usesLocations = policy.locations != nil
    }
}

extension RecordFacts.Source {
    /// Inspects a SOURCE. Facts that cannot be read are omitted: the plan reports such errors.
    init(lookingAt source: FilePath) {
        path = source.bytes
        do throws(Errno) {
            let status = try source.withoutFollowing.status()
            if let volume = Volume(holding: status) {
                let uuid = volume.uuid.flatMap { $0.contains { !"0-".contains($0) } ? $0 : nil }
                filesystem = volume.mount.filesystemType + (uuid.map { " \($0)" } ?? "")
            }
            guard status.kind == .directory else { return }
            var hasEntries = false
            try forEachName(in: source) { _ in
                hasEntries = true
                return false
            }
            isEmpty = !hasEntries
        } catch {
            // Deleted or unreadable: assumed not to be empty.
        }
    }
}
