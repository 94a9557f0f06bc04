import CommandSupport
import EffectiveValues
import StorageManagement
import StoragePolicy
import SystemCalls
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
    /// The size in bytes below which a unit of caches and temporary files goes only with others of its
    /// directory.
    var smallest: Int64 = 64 << 10

    /// Creates settings that watch the given volumes.
    init(volumes: [FilePath]) { self.volumes = volumes }
}

/// The keys of the configuration file.
enum WatchKey: String, CaseIterable {
    case volumes
    case markRoots = "mark-roots"
    case protected, caches, temporary
    case minimumAge = "min-age"
    case smallest, thresholds
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

extension WatchSettings {
    /// Returns a warning for each configured directory that cannot be found: a misspelt one has no
    /// effect, and that must be reported.
    func missingDirectories() -> [(path: FilePath, sentence: String)] {
        let named =
            protected.map { ($0, "protected", "nothing is protected there") }
            + markRoots.map { ($0, "mark-roots", "no mark counts there") }
            + locations.map {
                (
                    $0.path, $0.kind == .temporary ? "temporary" : "caches",
                    "nothing is deleted there"
                )
            }
        return named.compactMap { path, key, effect in
            do throws(Errno) {
                _ = try path.status()
                return nil
            } catch {
                return (path, "\(key): cannot be found, so \(effect): \(error)")
            }
        }
    }

    /// Refuses configured directories for caches or temporary files that cannot be used as such.
    ///
    /// - Parameter environment: the environment under these settings.
    /// - Throws: `SettingsError`, listing each refused directory.
    func requirePlausibleLocations(
        in environment: PolicyEnvironment
    ) throws(SettingsError) {
        let refusals = environment.locations.refusals.map { refusal in
            let key =
                locations.contains { $0.path == refusal.path && $0.kind == .temporary }
                ? "temporary" : "caches"
            return "\(key): \(refusal.path?.string ?? ""): \(refusal.sentence)"
        }
        guard refusals.isEmpty else { throw SettingsError(refusals.joined(separator: "; ")) }
    }
}
