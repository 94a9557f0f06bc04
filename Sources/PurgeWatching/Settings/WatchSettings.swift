import StorageManagement
import StoragePolicy
import SystemPackage

/// The settings for watching volumes, as read from the configuration file.
package struct WatchSettings: Sendable, Hashable {
    /// An absolute path on each watched volume.
    package var volumes: [FilePath] = []
    /// The thresholds below which a purge begins.
    package var thresholds = StorageThresholds()
    /// The directories below which `isPurgeable` marks count, absolute.
    package var markRoots: [FilePath] = []
    /// Additional protected directories, absolute.
    package var protected: [FilePath] = []
    /// Additional directories for caches and for temporary files, absolute.
    package var locations: [StorageLocation] = []
    /// The age below which nothing is purged, in seconds; nil for the ages that follow from the
    /// location and the pressure.
    package var minimumAge: Int64?

    /// Creates settings that watch the given volumes.
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
