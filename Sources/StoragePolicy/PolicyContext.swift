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
        mayKeepTagFile = values.exclusion?.cause == .marker(.cachedir)
    }

    @usableFromInline
    func keeps(tagNamed name: [UInt8], at path: () -> FilePath) -> Bool {
        name.elementsEqual("CACHEDIR.TAG".utf8)
            && path().removingLastComponent() == values.exclusion?.ancestor
    }
}

/// The values that entries inherit, each from a directory above.
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

    /// Returns what the entries of a directory inherit that inherits these values itself.
    ///
    /// - Parameters:
    ///   - mark: what its own marks say of exclusion.
    ///   - verdict: what applies to the directory; nil if nothing does.
    func passedOn(
        by mark: ExclusionCause?, _ verdict: Verdict?, at path: () -> FilePath
    ) -> InheritedValues {
        guard let verdict else { return self }
        var passed = self
        if let mark, mark.isExcluded, exclusionByMark == nil {
            passed.exclusionByMark = Effective(mark, from: path())
        }
        if verdict.exclusion.ancestor == nil, verdict.exclusion.cause.isLocation {
            passed.exclusionByLocation = Effective(verdict.exclusion.cause, from: path())
        }
        passed.purgeability = verdict.purgeability.passedOn(at: path)
        passed.protection = verdict.protection.passedOn(at: path)
        return passed
    }
}

extension Effective {
    /// Returns what entries of a directory inherit from what applies to it; nil for nothing.
    fileprivate func passedOn(at path: () -> FilePath) -> Effective? {
        if ancestor != nil { return self }
        return cause.isInherited ? Effective(cause, from: path()) : nil
    }
}
