import SystemPackage

/// What a directory passes to its entries. Two words; copying it allocates nothing.
public struct PolicyContext: Sendable {
    /// What the entries inherit; nil when nothing above them is marked.
    @usableFromInline let inherited: Inherited?
    /// The directory's place among the locations; nil when no location lies below it.
    @usableFromInline let place: LocationNode?

    @usableFromInline
    init(inherited: Inherited?, place: LocationNode?) {
        self.inherited = inherited
        self.place = place
    }

    /// The context of a directory that nothing above is known about: nothing is inherited, and no
    /// location is met.
    public static let empty = PolicyContext(inherited: nil, place: nil)
}

/// What entries inherit, and the verdict on every entry that has no marks itself.
@usableFromInline
final class Inherited: Sendable {
    let values: InheritedValues
    @usableFromInline let verdict: Verdict
    @usableFromInline let isInsideLocation: Bool
    /// Whether a `CACHEDIR.TAG` excludes, which itself is backed up.
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

/// What entries inherit. Every value is the `inherited` case of its type.
struct InheritedValues: Sendable, Hashable {
    /// The exclusion by the topmost mark.
    var exclusionByMark: Exclusion?
    /// The exclusion by a location; kept apart because it ends at mount points and cut-outs. Set
    /// only where no mark further up excludes.
    var exclusionByLocation: Exclusion?
    var purgeability: Purgeability?
    var protection: EffectiveProtection?

    static let nothing = InheritedValues()

    /// The exclusion that began first on the way down.
    var exclusion: Exclusion? { exclusionByLocation ?? exclusionByMark }
}
