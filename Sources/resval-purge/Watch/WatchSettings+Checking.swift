import EffectiveValues
import SettingsReading
import StoragePolicy
import SystemCalls
import SystemPackage

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
