import ResourceValues
import StoragePolicy

extension Decision {
    /// Returns the effective value of a stored key; nil for computed keys, which are not inherited,
    /// and when no protection class applies.
    func value(for key: ResourceKey) -> ResourceValue? {
        switch key {
        case .isExcludedFromBackup: .boolean(isExcluded)
        case .isPurgeable: .boolean(isPurgeable)
        case .fileProtection: protectionClass.map { .protection($0) }
        default: nil
        }
    }
}
