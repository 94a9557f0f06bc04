import SystemPackage

/// The items that an engine must restore, and where.
package struct RestoreRequest: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// The directory below which each item is restored with its whole path.
    package let target: FilePath
    /// The paths of the snapshot that are wanted.
    package let includes: IncludedPaths
    /// Whether files in the target are overwritten. If not, the target was just seen empty or
    /// absent, and a file that has appeared since stays as it is and is a failure.
    package let overwrites: Bool
}
