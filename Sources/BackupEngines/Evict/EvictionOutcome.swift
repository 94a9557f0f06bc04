import Eviction
import SystemPackage

/// What became of one file that was to be evicted or brought back.
package struct EvictionOutcome: Sendable {
    /// What became of it.
    package enum End: Sendable, Hashable {
        /// It is done; so many bytes were freed, or brought back.
        case done(bytes: Int64)
        /// It would be done: this was a dry run.
        case planned
        /// There was nothing to do.
        case unneeded
        /// It was not done.
        case refused(EvictionError)
    }

    /// The file, as an absolute path.
    package let path: FilePath
    /// Its size in bytes; 0 where it could not be looked at.
    package var size: Int64 = 0
    /// The snapshot that holds the content, or held it; nil when none was made.
    package var snapshot: String?
    /// What became of it.
    package let end: End

    package init(path: FilePath, size: Int64 = 0, snapshot: String? = nil, end: End) {
        self.path = path
        self.size = size
        self.snapshot = snapshot
        self.end = end
    }

    /// Whether something was left undone that could have been done.
    package var isFailure: Bool {
        guard case .refused(let error) = end else { return false }
        return error != .alreadyEvicted && error != .nothingToFree
    }
}
