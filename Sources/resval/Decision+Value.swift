import ResourceValues
import StoragePolicy

extension Decision {
    /// What applies for a stored key; nil for computed keys, whose value is the item's own, and for
    /// a protection class that nothing gives.
    func value(for key: ResourceKey) -> ResourceValue? {
        switch key {
        case .isExcludedFromBackup: .boolean(isExcluded)
        case .isPurgeable: .boolean(isPurgeable)
        case .fileProtection: protectionClass.map { .protection($0) }
        default: nil
        }
    }
}
