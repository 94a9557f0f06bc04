import StorageManagement
import StoragePolicy
import SystemPackage

/// The settings for watching volumes, as read from the configuration file.
struct WatchSettings: Sendable, Hashable {
    /// An absolute path on each watched volume.
    var volumes: [FilePath] = []
    /// The thresholds below which a purge begins.
    var thresholds = StorageThresholds()
    /// The directories below which `isPurgeable` marks count, absolute.
    var markRoots: [FilePath] = []
    /// Additional protected directories, absolute.
    var protected: [FilePath] = []
    /// Additional directories for caches and for temporary files, absolute.
    var locations: [StorageLocation] = []
    /// The age below which nothing is purged, in seconds; nil for the ages that follow from the
    /// location and the pressure.
    var minimumAge: Int64?

    /// Creates settings that watch the given volumes.
    init(volumes: [FilePath]) { self.volumes = volumes }
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
