import ResourceValues
import SystemPackage

/// The reasons decided for one item, which determine what its entries inherit.
struct OwnReasons {
    let byMarks: Exclusion?
    let exclusion: Exclusion
    let purgeability: Purgeability
    let protection: EffectiveProtection

    init(
        _ byMarks: Exclusion?, _ exclusion: Exclusion, _ purgeability: Purgeability,
        _ protection: EffectiveProtection
    ) {
        self.byMarks = byMarks
        self.exclusion = exclusion
        self.purgeability = purgeability
        self.protection = protection
    }
}

extension StoragePolicy {
    /// - Parameter values: what the item itself inherits, without locations that end at it.
    func contextForEntries(
        _ own: OwnMarks, below inherited: Inherited?, at place: LocationNode?,
        passing reasons: OwnReasons, _ values: InheritedValues, _ path: () -> FilePath
    ) -> PolicyContext {
        guard own.mayHaveEntries else { return .empty }
        let passed = passedOn(reasons, values, path)
        let onward = place.flatMap { $0.isLeaf ? nil : $0 }
        if let inherited, inherited.values == passed {
            return PolicyContext(inherited: inherited, place: onward)
        }
        let isNothing = passed == .nothing
        return PolicyContext(inherited: isNothing ? nil : Inherited(passed), place: onward)
    }

    private func passedOn(
        _ reasons: OwnReasons, _ values: InheritedValues, _ path: () -> FilePath
    ) -> InheritedValues {
        var passed = values
        lazy var origin = path()
        if let byMarks = reasons.byMarks, byMarks.isExcluded, values.exclusionByMark == nil {
            passed.exclusionByMark = .inherited(from: origin, reason: byMarks)
        }
        if case .location = reasons.exclusion {
            passed.exclusionByLocation = .inherited(from: origin, reason: reasons.exclusion)
        }
        switch reasons.purgeability {
        case .unmarked, .inherited: break
        case .marked, .markedFalse, .malformed:
            passed.purgeability = .inherited(from: origin, reason: reasons.purgeability)
        }
        switch reasons.protection {
        case .unmarked, .inherited: break
        case .marked, .malformed:
            passed.protection = .inherited(from: origin, reason: reasons.protection)
        }
        return passed
    }
}
