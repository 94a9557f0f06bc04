import SystemCalls

/// A number of bytes, counted in two ways.
public struct UsageAmount: Sendable, Hashable {
    /// The sizes of regular files, in bytes.
    public var apparent: Int64 = 0
    /// What files, directories and all other items take on disk, in bytes.
    public var allocated: Int64 = 0

    /// Creates an amount; by default nothing.
    public init(apparent: Int64 = 0, allocated: Int64 = 0) {
        self.apparent = apparent
        self.allocated = allocated
    }

    mutating func add(_ other: UsageAmount) {
        apparent.addSaturating(other.apparent)
        allocated.addSaturating(other.allocated)
    }
}

/// The sums of a directory, without those of its subdirectories while a walk adds them up.
struct UsageTally: Sendable {
    var apparent: Int64 = 0
    /// The allocated bytes by fate.
    private var backedUp: Int64 = 0
    private var protected: Int64 = 0
    private var excluded: Int64 = 0
    private var purgeable: Int64 = 0
    /// The allocated bytes that backups exclude, of those that are purgeable.
    private var purgeableAndExcluded: Int64 = 0
    /// The allocated bytes that deleting the directory would not free.
    var notFreed: Int64 = 0
    /// The number of regular files.
    var fileCount: Int64 = 0

    var allocated: Int64 {
        backedUp.addingSaturating(protected).addingSaturating(excluded)
            .addingSaturating(purgeable)
    }

    /// The allocated bytes that backups exclude.
    var excludedInAll: Int64 { excluded.addingSaturating(purgeableAndExcluded) }

    func allocated(_ fate: UsageFate) -> Int64 {
        switch fate {
        case .backedUp: backedUp
        case .protected: protected
        case .excluded: excluded
        case .purgeable: purgeable
        }
    }

    @inline(__always)
    mutating func add(_ amount: UsageAmount, _ entry: UsageClassEntry) {
        apparent.addSaturating(amount.apparent)
        switch entry.fate {
        case .backedUp: backedUp.addSaturating(amount.allocated)
        case .protected: protected.addSaturating(amount.allocated)
        case .excluded: excluded.addSaturating(amount.allocated)
        case .purgeable:
            purgeable.addSaturating(amount.allocated)
            if entry.isExcludedAndPurgeable { purgeableAndExcluded.addSaturating(amount.allocated) }
        }
    }

    mutating func add(_ other: UsageTally) {
        apparent.addSaturating(other.apparent)
        backedUp.addSaturating(other.backedUp)
        protected.addSaturating(other.protected)
        excluded.addSaturating(other.excluded)
        purgeable.addSaturating(other.purgeable)
        purgeableAndExcluded.addSaturating(other.purgeableAndExcluded)
        notFreed.addSaturating(other.notFreed)
        fileCount.addSaturating(other.fileCount)
    }
}
