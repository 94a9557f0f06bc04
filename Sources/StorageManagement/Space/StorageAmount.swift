import SystemCalls

/// How much of something there is, and how much of it is left: bytes or inodes.
public struct StorageAmount: Sendable, Hashable {
    /// All of it, used or not.
    public let total: Int64
    /// What may still be used; from 0 to ``total``.
    public let available: Int64

    /// Creates an amount; what is out of range is cut to it.
    public init(total: Int64, available: Int64) {
        self.total = max(0, total)
        self.available = min(max(0, available), self.total)
    }

    /// The amount when so much more were available.
    func adding(_ freed: Int64) -> StorageAmount {
        StorageAmount(total: total, available: available.addingSaturating(max(0, freed)))
    }
}
