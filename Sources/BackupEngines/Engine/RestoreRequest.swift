import SystemPackage

/// What an engine is to bring back.
package struct RestoreRequest: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// The directory below which each item gets its whole path.
    package let target: FilePath
    /// Which of the snapshot's paths are wanted.
    package let includes: IncludedPaths
    /// Whether files that are in the target are overwritten. Without it the target was empty or
    /// absent a moment ago, and a file that appeared since stays as it is and is a failure.
    package let overwrites: Bool
}
