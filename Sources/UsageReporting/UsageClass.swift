import BackupPlanning
import EffectiveValues
import PurgePlanning
import ResourceValues
import StoragePolicy

/// What happens to bytes, and where they are. Every byte has one class.
///
/// A file with several names, or an extent that several files share, has what keeps it longest: it
/// is backed up if one name is, and purgeable only if all are.
public struct UsageClass: Sendable, Hashable {
    /// Why no backup includes the bytes; nil if one does.
    public var exclusion: UsageExclusion?
    /// Whether the bytes may be deleted when space is short.
    public var purging: UsagePurging
    /// The effective protection class; nil if there is none.
    public var protection: FileProtection?
    /// Whether anything enforces the protection class; nil without one, and for the class `none`.
    public var verdict: ProtectionVerdict?
    /// The kind of location that contains the bytes; nil outside all locations.
    public var location: StorageLocation.Kind?

    /// Creates a class; by default that of unmarked files outside all locations.
    public init(
        exclusion: UsageExclusion? = nil, purging: UsagePurging = .kept,
        protection: FileProtection? = nil, verdict: ProtectionVerdict? = nil,
        location: StorageLocation.Kind? = nil
    ) {
        self.exclusion = exclusion
        self.purging = purging
        self.protection = protection
        self.verdict = verdict
        self.location = location
    }

    /// What happens to the bytes, in one word: the first that applies of purgeable, excluded,
    /// protected and backed up.
    public var fate: UsageFate {
        if case .purgeable = purging { return .purgeable }
        if exclusion != nil { return .excluded }
        return protection.map { $0 != .none } ?? false ? .protected : .backedUp
    }

    /// Whether a backup excludes the bytes and they may be deleted, too.
    var isExcludedAndPurgeable: Bool { fate == .purgeable && exclusion != nil }

    /// Returns the class of bytes that are reached by a name of each class. The order of names
    /// makes no difference.
    func merging(_ other: UsageClass) -> UsageClass {
        var merged = self
        if let exclusion, let second = other.exclusion {
            merged.exclusion = min(exclusion, second)
        } else {
            merged.exclusion = nil
        }
        merged.purging = min(purging, other.purging)
        let ranks = (
            (rank(protection), rank(verdict)), (rank(other.protection), rank(other.verdict))
        )
        if ranks.1 < ranks.0 {
            merged.protection = other.protection
            merged.verdict = other.verdict
        }
        if rank(other.location) < rank(location) { merged.location = other.location }
        return merged
    }
}

/// What happens to bytes, in one word.
public enum UsageFate: String, Sendable, Hashable, CaseIterable {
    /// Backups include the bytes, which have no protection class.
    case backedUp
    /// Backups include the bytes, and a protection class protects them.
    case protected
    /// Backups exclude the bytes.
    case excluded
    /// The bytes may be deleted when space is short, whether backups include them or not.
    case purgeable
}

/// Why backups exclude bytes, by the stable names of the reason at the item that decides.
public struct UsageExclusion: Sendable, Hashable, Comparable {
    /// The name of the reason, as ``ExclusionReason/name``: `marked`, `marker`, `location`, `mount`
    /// and others.
    public let name: String
    /// The marker, or the kind of location; nil for other reasons.
    public let detail: String?

    /// Creates the exclusion for a reason.
    public init(_ reason: ExclusionReason) {
        let origin = reason.origin
        name = origin.name
        if case .excluded(let exclusion) = origin, case .location(let location) = exclusion.cause {
            detail = location.kind.rawValue
        } else {
            detail = origin.marker?.rawValue
        }
    }

    /// Orders by name, then by detail.
    public static func < (first: UsageExclusion, second: UsageExclusion) -> Bool {
        (first.name, first.detail ?? "") < (second.name, second.detail ?? "")
    }
}

/// Whether bytes may be deleted when space is short, as far as marks and locations decide. What is
/// in use or too young is kept nevertheless.
public enum UsagePurging: Sendable, Hashable, Comparable {
    /// A mark pins them.
    case pinned
    /// Nothing allows their deletion.
    case kept
    /// They may be deleted, in this class.
    case purgeable(PurgeClass)

    /// `pinned`, `kept`, or the name of the class: `marked`, `caches` or `temporary`.
    public var name: String {
        switch self {
        case .pinned: "pinned"
        case .kept: "kept"
        case .purgeable(let purgeClass): purgeClass.name
        }
    }

    /// Orders by what is kept longest.
    public static func < (first: UsagePurging, second: UsagePurging) -> Bool {
        first.rank < second.rank
    }

    private var rank: Int {
        switch self {
        case .pinned: 0
        case .kept: 1
        case .purgeable(.marked): 2
        case .purgeable(.caches): 3
        case .purgeable(.temporary): 4
        }
    }
}

private func rank<Value: CaseIterable & Equatable>(_ value: Value?) -> Int
where Value.AllCases == [Value] {
    value.map { Value.allCases.firstIndex(of: $0) ?? 0 } ?? Int.max
}

private func rank(_ location: StorageLocation.Kind?) -> Int {
    switch location {
    case .documents: 0
    case .applicationSupport: 1
    case nil: 2
    case .caches: 3
    case .temporary: 4
    }
}

/// A class with its number in the tables of one walk.
final class UsageClassEntry: Sendable {
    let number: Int
    let value: UsageClass
    let fate: UsageFate
    let isExcludedAndPurgeable: Bool

    init(_ value: UsageClass, number: Int) {
        self.number = number
        self.value = value
        fate = value.fate
        isExcludedAndPurgeable = value.isExcludedAndPurgeable
    }
}

/// The classes that one walk met.
struct UsageClassTable: Sendable {
    private(set) var entries: [UsageClassEntry] = []
    private var numbers: [UsageClass: Int] = [:]

    mutating func entry(for value: UsageClass) -> UsageClassEntry {
        if let number = numbers[value] { return entries[number] }
        let entry = UsageClassEntry(value, number: entries.count)
        numbers[value] = entry.number
        entries.append(entry)
        return entry
    }
}

/// Amounts by class.
struct UsageClassAmounts: Sendable {
    private(set) var amounts: [UsageAmount] = []

    @inline(__always)
    mutating func add(_ amount: UsageAmount, _ entry: UsageClassEntry) {
        while amounts.count <= entry.number { amounts.append(UsageAmount()) }
        amounts[entry.number].add(amount)
    }

    mutating func add(_ other: UsageClassAmounts) {
        for (number, amount) in other.amounts.enumerated() {
            if number == amounts.count {
                amounts.append(amount)
            } else {
                amounts[number].add(amount)
            }
        }
    }
}
