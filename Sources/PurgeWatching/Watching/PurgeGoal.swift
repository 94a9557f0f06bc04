import StorageManagement
import SystemCalls

/// What a purge is to free, in bytes and in inodes.
package struct PurgeGoal: Sendable, Hashable {
    /// What shall be freed: twice the threshold of low then is left.
    package var wanted = Amount()
    /// What must be freed for a purge to make sense: the threshold of low then is left.
    package var needed = Amount()
    /// Whether a purge makes sense that does not even reach that: at critical everything helps.
    package var isPartial = false

    /// Bytes and inodes.
    package struct Amount: Sendable, Hashable {
        package var bytes: Int64 = 0
        package var inodes: Int64 = 0

        package init(bytes: Int64 = 0, inodes: Int64 = 0) {
            self.bytes = bytes
            self.inodes = inodes
        }

        /// Whether another amount is at least this much of both.
        package func isReached(by other: Amount) -> Bool {
            other.bytes >= bytes && other.inodes >= inodes
        }
    }

    /// The goal for a space; nothing is wanted where there is twice as much as the thresholds say.
    package init(_ space: StorageSpace, _ thresholds: StorageThresholds) {
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
