import BackupPlanning
import EffectiveValues
import PurgePlanning
import StoragePolicy
import SystemCalls

/// What a directory passes to its entries while usage is measured.
final class UsageScope: Sendable {
    /// What the plan's rules pass on.
    let plan: PlanContext
    let directory: UInt32
    /// Why a backup does not enter the directory; nil if it does.
    let exclusion: ExclusionReason?
    /// The class of entries that nothing is known about by themselves; nil above a root.
    let plainClass: UsageClassEntry?
    /// Whether the policy excludes such entries.
    let excludesPlainEntries: Bool
    /// Whether the directory is encrypted, as its entries then are, too (fscrypt).
    let isEncrypted: Bool
    /// Where the directory is among the locations.
    let position: LocationPosition
    /// The device of the filesystem, the same for all its subvolumes, if files on it can share
    /// extents; otherwise nil.
    let sharingFilesystem: UInt64?

    init(
        plan: PlanContext, directory: UInt32, exclusion: ExclusionReason?,
        plainClass: UsageClassEntry?, excludesPlainEntries: Bool, isEncrypted: Bool,
        position: LocationPosition, sharingFilesystem: UInt64?
    ) {
        self.plan = plan
        self.directory = directory
        self.exclusion = exclusion
        self.plainClass = plainClass
        self.excludesPlainEntries = excludesPlainEntries
        self.isEncrypted = isEncrypted
        self.position = position
        self.sharingFilesystem = sharingFilesystem
    }

    /// Creates the scope that a root is visited in.
    convenience init(root: EffectiveItem, below position: LocationPosition) {
        self.init(
            plan: PlanContext(source: root), directory: 0, exclusion: nil, plainClass: nil,
            excludesPlainEntries: false, isEncrypted: false, position: position,
            sharingFilesystem: nil)
    }

    /// Returns why an item's own entry is not stored; the entry of a directory that is itself
    /// excluded is.
    func ownExclusion(of item: ExaminedItem) -> ExclusionReason? {
        if let exclusion { return exclusion }
        guard item.status.kind == .directory, let reason = item.reason else { return item.reason }
        return reason == .tooLong || reason.ancestor != nil ? reason : nil
    }

    /// Returns why an item other than a directory is not stored.
    func exclusion(of item: ExaminedItem) -> ExclusionReason? {
        // The tag file is stored although the other contents of its directory are excluded.
        if exclusion?.keptFile != nil, !item.decision.isExcluded { return nil }
        return exclusion ?? item.reason
    }
}

/// Where a directory is among the locations and the directories that are never purged.
struct LocationPosition: Sendable {
    /// The kind of location that contains the directory; nil outside all.
    private(set) var kind: StorageLocation.Kind?
    /// Whether the directory is, or lies in, one that is never purged.
    private(set) var isProtected = false
    private var locations: LocationNode?
    private var protected: LocationNode?

    /// Creates the position of `/`; nil for no locations.
    init(_ locations: StorageLocations?) {
        guard let locations else { return }
        self.locations = LocationNode(locations.locations, cutOuts: locations.cutOuts)
        protected = LocationNode([], cutOuts: locations.protectedRoots)
    }

    /// Returns the position of an entry.
    @inline(__always)
    func entry(named name: @autoclosure () -> [UInt8]) -> LocationPosition {
        if locations == nil, protected == nil { return self }
        let name = name()
        var entry = self
        entry.locations = locations?.entry(named: name)
        entry.protected = protected?.entry(named: name)
        if let location = entry.locations?.location {
            entry.kind = location.kind
        } else if entry.locations?.isCutOut == true {
            entry.kind = nil
        }
        if entry.protected?.isCutOut == true { entry.isProtected = true }
        return entry
    }

    /// Returns when an item in the directory may be deleted to free space.
    func purging(_ decision: Decision) -> UsagePurging {
        if decision.purgeability.cause.isProtected { return .pinned }
        let isMarked = decision.isPurgeable
        if isProtected || decision.protection.cause.keepsItem(isMarkedPurgeable: isMarked) {
            return .kept
        }
        switch kind {
        case .temporary: return .purgeable(.temporary)
        case .caches: return .purgeable(.caches)
        case .applicationSupport, .documents, nil:
            return isMarked ? .purgeable(.marked) : .kept
        }
    }
}
