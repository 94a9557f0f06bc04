import SystemPackage

/// A directory whose purpose determines how its content is treated.
public struct StorageLocation: Sendable, Hashable {
    /// The purpose of a location.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// `/tmp`, `/var/tmp`, and `$TMPDIR` inside either.
        case temporary
        /// `$XDG_CACHE_HOME`, and named directories such as `/var/cache`.
        case caches
        /// `$XDG_DATA_HOME`.
        case applicationSupport
        /// The XDG user directories.
        case documents

        /// Whether backups include the content.
        public var isBackedUp: Bool {
            switch self {
            case .temporary, .caches: false
            case .applicationSupport, .documents: true
            }
        }

        /// The kind in words, with an article.
        public var meaning: String {
            switch self {
            case .temporary: "a directory for temporary files"
            case .caches: "a directory for caches"
            case .applicationSupport: "a directory for application data"
            case .documents: "a directory for documents"
            }
        }
    }

    /// The purpose of the location.
    public let kind: Kind
    /// The absolute path.
    public let path: FilePath

    /// Creates a location.
    public init(kind: Kind, path: FilePath) {
        self.kind = kind
        self.path = path
    }
}
