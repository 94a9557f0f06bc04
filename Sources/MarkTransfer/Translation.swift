import EffectiveValues
import ResourceValues
import StoragePolicy

/// What is to be written on an item because of the marks it has. Pure: reads and writes nothing.
package struct Translation: Sendable, Hashable {
    /// The marks to write; empty when there is nothing to do.
    package var writes: [WrittenMark] = []
    /// The markers whose meaning they carry.
    package var origins: Set<Marker> = []
    /// Marks that contradict each other, so that nothing, or less, is written.
    package var conflict: Conflict?

    /// A contradiction.
    package struct Conflict: Sendable, Hashable {
        /// The markers that exclude the item from backups.
        package var excluding: Set<Marker>
        /// The markers that include it.
        package var including: Set<Marker>
        /// Whether the item's native mark decides, so that nothing is left to be said.
        package var isSettled: Bool

        /// The contradiction in words, without any path.
        package var sentence: String {
            PolicyIssue.conflict(excluding: excluding, including: including).sentence
        }
    }

    /// Whether there is nothing to do and nothing to say.
    package var isNothing: Bool { writes.isEmpty && conflict == nil }

    private init() {}

    /// What import writes: the native mark that says what foreign marks say. A native mark that is
    /// there stays, also when it is broken.
    package init(importing markers: Set<Marker>, onto marks: ItemMarks) {
        let excluding = marks.foreign.excluding.intersection(markers)
        let including = marks.foreign.including.intersection(markers)
        switch marks.native.isExcludedFromBackup {
        case .malformed, .unreadable:
            return
        case .value(let value):
            let opponents = value ? including : excluding
            guard !opponents.isEmpty else { return }
            conflict = Conflict(
                excluding: value ? [.native] : excluding,
                including: value ? including : [.native], isSettled: true)
        case .unset:
            if !excluding.isEmpty && !including.isEmpty {
                conflict = Conflict(
                    excluding: excluding, including: including, isSettled: false)
            } else if !excluding.isEmpty || !including.isEmpty {
                writes = [.native(including.isEmpty)]
                origins = excluding.union(including)
            }
        }
    }

    /// What export writes: the foreign marks that say what the native mark says, where there is none
    /// of theirs.
    ///
    /// - Parameter includesFalse: whether xdg says of an item whose native mark is `false` that it is to
    ///   be backed up. No other mark can, and a program that takes it the wrong way round, as betas of
    ///   borg 2 did, leaves out just that item.
    package init(
        exporting markers: Set<Marker>, from marks: ItemMarks, includesFalse: Bool = false
    ) {
        guard case .value(let isExcluded) = marks.native.isExcludedFromBackup else { return }
        let opponents = (isExcluded ? marks.foreign.including : marks.foreign.excluding)
            .intersection(markers)
        if !opponents.isEmpty {
            conflict = Conflict(
                excluding: isExcluded ? [.native] : opponents,
                including: isExcluded ? opponents : [.native], isSettled: false)
        }
        let present = marks.foreign.excluding.union(marks.foreign.including)
            .union(marks.foreign.unreadable.keys)
        for marker in markers.sorted() where !present.contains(marker) {
            switch marker {
            case .apple where isExcluded: writes.append(.apple)
            case .nodump where isExcluded: writes.append(.nodump)
            case .xdg where isExcluded || includesFalse: writes.append(.xdg(!isExcluded))
            default: break
            }
        }
        if !writes.isEmpty { origins = [.native] }
    }
}
