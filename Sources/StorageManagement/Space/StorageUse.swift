/// Why something is saved.
public enum StorageUse: Sendable, Hashable, CaseIterable {
    /// Somebody asked for it, or it cannot be had again. Purging makes room for it.
    case important
    /// Nobody asked for it yet, such as what is fetched in advance. It leaves a reserve.
    case opportunistic
}
