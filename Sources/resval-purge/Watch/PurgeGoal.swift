import StorageManagement
import SystemCalls

/// How much a purge is to free, in bytes and in inodes.
struct PurgeGoal: Sendable, Hashable {
    /// What the purge aims at: afterwards twice the `low` threshold is available.
    var wanted = Amount()
    /// What the purge must at least free to make sense: afterwards the `low` threshold is
    /// available.
    var needed = Amount()
    /// Whether freeing less than ``needed`` makes sense too: at critical pressure everything helps.
    var isPartial = false

    /// A number of bytes and a number of inodes.
    struct Amount: Sendable, Hashable {
        var bytes: Int64 = 0
        var inodes: Int64 = 0

        init(bytes: Int64 = 0, inodes: Int64 = 0) {
            self.bytes = bytes
            self.inodes = inodes
        }

        /// Whether another amount has at least as many bytes and as many inodes.
        func isReached(by other: Amount) -> Bool {
            other.bytes >= bytes && other.inodes >= inodes
        }
    }

    /// Creates the goal for a measured space; it is empty when twice the `low` threshold is
    /// available.
    init(_ space: StorageSpace, _ thresholds: StorageThresholds) {
        isPartial = thresholds.pressure(of: space) == .critical
        for amount in space.byteAmounts {
            let low = thresholds.lowBytes.value(of: amount.total)
            wanted.bytes = max(wanted.bytes, missing(amount, to: low.multipliedSaturating(by: 2)))
            needed.bytes = max(needed.bytes, missing(amount, to: low))
        }
        for amount in space.inodeAmounts {
            let low = thresholds.lowInodes.value(of: amount.total)
            wanted.inodes = max(wanted.inodes, missing(amount, to: low.multipliedSaturating(by: 2)))
            needed.inodes = max(needed.inodes, missing(amount, to: low))
        }
    }

    private func missing(_ amount: StorageAmount, to target: Int64) -> Int64 {
        max(0, min(target, amount.total) - amount.available)
    }
}
