import Eviction
import SystemPackage

/// The outcome of evicting or downloading one file.
package struct EvictionOutcome: Sendable {
    /// The kinds of outcomes.
    package enum End: Sendable, Hashable {
        /// It was done; this many bytes were freed or downloaded.
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
    /// Its size in bytes; 0 when it could not be inspected.
    package var size: Int64 = 0
    /// The snapshot that contains or contained the content; nil when none was made.
    package var snapshot: String?
    /// What happened to it.
    package let end: End

    package init(path: FilePath, size: Int64 = 0, snapshot: String? = nil, end: End) {
        self.path = path
        self.size = size
        self.snapshot = snapshot
        self.end = end
    }

    /// Whether an action failed that would have had an effect.
    package var isFailure: Bool {
        guard case .refused(let error) = end else { return false }
        return error != .alreadyEvicted && error != .nothingToFree
    }
}
