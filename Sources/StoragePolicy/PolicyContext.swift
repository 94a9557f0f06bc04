import ResourceValues
import SystemPackage

/// The context that a directory passes to its entries. Takes two words; copying does not allocate.
public struct PolicyContext: Sendable {
    /// What the entries inherit; nil if nothing above them is marked.
    @usableFromInline let inherited: Inherited?
    /// The directory's node in the tree of locations; nil if no location is below it.
    @usableFromInline let place: LocationNode?

    @usableFromInline
    init(inherited: Inherited?, place: LocationNode?) {
        self.inherited = inherited
        self.place = place
    }

    /// The context of a directory about whose ancestors nothing is known: nothing is inherited, and
    /// no location is below it.
    public static let empty = PolicyContext(inherited: nil, place: nil)

    /// Whether nothing is passed on: no entry is in a location or leads to one, and an unmarked entry
    /// stays unmarked.
    @inlinable
    public var isEmpty: Bool { inherited == nil && place == nil }
}

/// What entries inherit, and the verdict about every entry without marks.
@usableFromInline
final class Inherited: Sendable {
    let values: InheritedValues
    @usableFromInline let verdict: Verdict
    @usableFromInline let isInsideLocation: Bool
    /// Whether a `CACHEDIR.TAG` excludes the entries; the tag itself is backed up.
    @usableFromInline let mayKeepTagFile: Bool

    init(_ values: InheritedValues) {
        self.values = values
        verdict = Verdict(
            exclusion: values.exclusion ?? .unmarked,
            purgeability: values.purgeability ?? .unmarked,
            protection: values.protection ?? .unmarked)
        isInsideLocation = values.exclusionByLocation != nil
        mayKeepTagFile = values.exclusion?.origin == .marker(.cachedir)
    }

    @usableFromInline
    func keeps(tagNamed name: [UInt8], at path: () -> FilePath) -> Bool {
        name.elementsEqual("CACHEDIR.TAG".utf8)
            && path().removingLastComponent() == values.exclusion?.ancestor
    }
}

/// The values that entries inherit. Each is the `inherited` case of its type.
struct InheritedValues: Sendable, Hashable {
    /// The exclusion by the topmost mark.
    var exclusionByMark: Exclusion?
    /// The exclusion by a location; separate because it ends at mount points and cut-outs. Set only
    /// if no mark further up excludes.
    var exclusionByLocation: Exclusion?
    var purgeability: Purgeability?
    var protection: EffectiveProtection?

    static let nothing = InheritedValues()

    /// The exclusion that starts nearest to the root.
    var exclusion: Exclusion? { exclusionByLocation ?? exclusionByMark }
}

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
