import ResourceValues

/// The policy's decision about one item. Takes three words; unmarked items need no allocation.
public struct Decision: Sendable {
    @usableFromInline let verdict: Verdict?

    /// The context that the item, if it is a directory, passes to its entries.
    public let contextForEntries: PolicyContext

    @usableFromInline
    init(verdict: Verdict?, contextForEntries: PolicyContext) {
        self.verdict = verdict
        self.contextForEntries = contextForEntries
    }

    @usableFromInline
    init(inheriting inherited: Inherited) {
        self.init(
            verdict: inherited.verdict,
            contextForEntries: PolicyContext(inherited: inherited, place: nil))
    }

    /// The decision about an item without marks, in a directory that passes nothing on.
    @usableFromInline
    package static let unmarked = Decision(verdict: nil, contextForEntries: .empty)

    /// Whether nothing applies to the item: it has no marks and inherits none.
    @inlinable
    public var isUnmarked: Bool { verdict == nil }

    /// Whether a backup excludes the item. An excluded directory is itself backed up, without its
    /// entries.
    @inlinable
    public var isExcluded: Bool { verdict?.exclusion.cause.isExcluded ?? false }

    /// Whether the item may be deleted when space is short.
    public var isPurgeable: Bool { purgeability.cause.isPurgeable }

    /// The effective protection class, or nil.
    public var protectionClass: FileProtection? { protection.cause.protectionClass }

    /// Whether the item is backed up, and why.
    public var exclusion: Exclusion { verdict?.exclusion ?? .unmarked }

    /// Whether the item may be deleted when space is short, and why.
    public var purgeability: Purgeability { verdict?.purgeability ?? .unmarked }

    /// The item's protection class, and why.
    public var protection: EffectiveProtection { verdict?.protection ?? .unmarked }

    /// The effective value of a key; nil when no protection class applies.
    public func value(for key: StoredKey) -> StoredValue? {
        switch key {
        case .isExcludedFromBackup: .boolean(isExcluded)
        case .isPurgeable: .boolean(isPurgeable)
        case .fileProtection: protectionClass.map { .protection($0) }
        }
    }

    /// The issues to report about the item's own marks.
    public var issues: [PolicyIssue] { verdict?.issues ?? [] }

    /// Whether an excluded directory may contain items that are backed up nevertheless: a home, a SOURCE
    /// or a mount point inside a location. A walk must then continue below it, where this is true again
    /// for every directory that leads to such an item; anywhere else below, the walk may stop.
    public var mayHoldIncludedItems: Bool { verdict?.mayHoldIncludedItems ?? false }
}

/// The parts of a decision about an item that has or inherits marks.
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
