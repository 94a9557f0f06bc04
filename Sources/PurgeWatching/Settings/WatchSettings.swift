import StorageManagement
import StoragePolicy
import SystemPackage

/// What the configuration file says about watching volumes.
package struct WatchSettings: Sendable, Hashable {
    /// An item on each volume that is watched, absolute.
    package var volumes: [FilePath] = []
    /// When a purge begins.
    package var thresholds = StorageThresholds()
    /// The directories below which marks are acted on, absolute.
    package var markRoots: [FilePath] = []
    /// More directories that are never purged, absolute.
    package var protected: [FilePath] = []
    /// More directories for caches and for temporary files, absolute.
    package var locations: [StorageLocation] = []
    /// The age below which nothing is purged, in seconds; nil for the ages that go with place and
    /// pressure.
    package var minimumAge: Int64?

    /// Settings that watch one volume.
    package init(volumes: [FilePath]) { self.volumes = volumes }
}

/// The keys of the configuration file.
enum WatchKey: String, CaseIterable {
    case volumes
    case markRoots = "mark-roots"
    case protected, caches, temporary
    case minimumAge = "min-age"
    case thresholds
}

/// The keys of the table `thresholds`.
enum ThresholdKey: String, CaseIterable {
    case lowPercent = "low-percent"
    case low
    case criticalPercent = "critical-percent"
    case critical
    case lowInodes = "low-inodes"
    case criticalInodes = "critical-inodes"
}
