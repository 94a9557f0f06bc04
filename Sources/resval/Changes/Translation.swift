import EffectiveValues
import ResourceValues
import StoragePolicy

/// The marks to write on an item, derived from the marks it has. Computed without I/O.
struct Translation: Sendable, Hashable {
    /// The marks to write; empty when there is nothing to do.
    var writes: [ChangedMark] = []
    /// The kinds of marks from which ``writes`` are derived.
    var origins: Set<Marker> = []
    /// The contradiction between marks because of which nothing, or less, is written.
    var conflict: Conflict?

    /// A contradiction between marks of an item.
    struct Conflict: Sendable, Hashable {
        /// The kinds of marks that exclude the item from backups.
        var excluding: Set<Marker>
        /// The kinds of marks that include it.
        var including: Set<Marker>
        /// Whether the item's native mark decides, so that a warning suffices.
        var isSettled: Bool

        /// The contradiction in words, without a path.
        var sentence: String {
            PolicyIssue.conflict(excluding: excluding, including: including).sentence
        }
    }

    /// Whether there is neither a mark to write nor a contradiction to report.
    var isNothing: Bool { writes.isEmpty && conflict == nil }

    private init() {}

    /// Creates what `import` writes: the native mark with the meaning of the foreign marks.
    ///
    /// An existing native mark is left as it is, even when it is malformed or unreadable.
    init(importing markers: Set<Marker>, onto marks: ItemMarks) {
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
                writes = [.key(MarkChange(.isExcludedFromBackup, to: including.isEmpty))]
                origins = excluding.union(including)
            }
        }
    }

    /// Creates what `export` writes: the foreign marks with the meaning of the native mark.
    ///
    /// Existing foreign marks, including unreadable ones, are left as they are.
    ///
    /// - Parameter includesFalse: Whether an item whose native mark is `false` gets the xdg mark
    ///   `true`. No other foreign mark can say that an item is included. Programs that
    ///   interpret the value the wrong way round, as betas of borg 2 did, exclude that very item.
    init(
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
            case .apple where isExcluded: writes.append(.foreign(.apple))
            case .nodump where isExcluded: writes.append(.foreign(.nodump))
            case .xdg where isExcluded || includesFalse: writes.append(.foreign(.xdg(!isExcluded)))
            default: break
            }
        }
        if !writes.isEmpty { origins = [.native] }
    }
}
