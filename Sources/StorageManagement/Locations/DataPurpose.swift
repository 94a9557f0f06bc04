import StoragePolicy

/// What a program's data is to it: it decides where the data belongs.
public enum DataPurpose: Sendable, Hashable, CaseIterable {
    /// It cannot be made again. It is backed up, and never purged unless it is marked itself.
    case essential
    /// It can be made or fetched again. It is not backed up, and goes when space is short.
    case cacheable
    /// It is of use only while the program runs. It is not backed up, and goes first.
    case temporary

    /// The location for such data.
    public var location: StorageLocation.Kind {
        switch self {
        case .essential: .applicationSupport
        case .cacheable: .caches
        case .temporary: .temporary
        }
    }
}
