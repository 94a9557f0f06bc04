import ResourceValues

/// What the policy says about one item. Three words; nothing is allocated for unmarked items.
public struct Decision: Sendable {
    @usableFromInline let verdict: Verdict?

    /// What the item, when it is a directory, passes to its entries.
    public let contextForEntries: PolicyContext

    @usableFromInline
    init(verdict: Verdict?, contextForEntries: PolicyContext) {
        self.verdict = verdict
        self.contextForEntries = contextForEntries
    }

    /// The decision on an unmarked item.
    @usableFromInline
    init(inheriting inherited: Inherited) {
        self.init(
            verdict: inherited.verdict,
            contextForEntries: PolicyContext(inherited: inherited, place: nil))
    }

    @usableFromInline static let unmarked = Decision(verdict: nil, contextForEntries: .empty)

    /// Whether nothing applies to the item: it has no marks and inherits none.
    @inlinable
    public var isUnmarked: Bool { verdict == nil }

    /// Whether a backup leaves the item out. Of an excluded directory the entry itself stays.
    @inlinable
    public var isExcluded: Bool { verdict?.exclusion.isExcluded ?? false }

    /// Whether the item may be deleted when space is short.
    public var isPurgeable: Bool { purgeability.isPurgeable }

    /// The protection class that applies; nil when there is none.
    public var protectionClass: FileProtection? { protection.protectionClass }

    /// Whether the item is backed up, and why.
    public var exclusion: Exclusion { verdict?.exclusion ?? .unmarked }

    /// Whether the item may be deleted when space is short, and why.
    public var purgeability: Purgeability { verdict?.purgeability ?? .unmarked }

    /// The item's protection class, and why.
    public var protection: EffectiveProtection { verdict?.protection ?? .unmarked }

    /// What has to be reported about the item's own marks.
    public var issues: [PolicyIssue] { verdict?.issues ?? [] }

    /// Whether an excluded directory may hold items that are backed up all the same: a home or a
    /// mount point inside a location. A walk must then go on below it, where every directory that
    /// leads to such an item says so again; anywhere else below, it may turn back.
    public var mayHoldIncludedItems: Bool { verdict?.mayHoldIncludedItems ?? false }
}

/// The parts of a decision on an item that has marks or inherits some.
@usableFromInline
final class Verdict: Sendable {
    @usableFromInline let exclusion: Exclusion
    let purgeability: Purgeability
    let protection: EffectiveProtection
    let issues: [PolicyIssue]
    let mayHoldIncludedItems: Bool

    init(
        exclusion: Exclusion, purgeability: Purgeability, protection: EffectiveProtection,
        issues: [PolicyIssue] = [], mayHoldIncludedItems: Bool = false
    ) {
        self.exclusion = exclusion
        self.purgeability = purgeability
        self.protection = protection
        self.issues = issues
        self.mayHoldIncludedItems = mayHoldIncludedItems
    }
}
