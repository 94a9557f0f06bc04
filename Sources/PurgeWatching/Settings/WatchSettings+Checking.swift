import EffectiveValues
import SettingsReading
import StoragePolicy
import SystemCalls
import SystemPackage

extension WatchSettings {
    /// What is to be said about directories the configuration names that cannot be found, such as a
    /// misspelt one: it has no effect, and that must not stay unnoticed.
    package func missingDirectories() -> [(path: FilePath, sentence: String)] {
        let named =
            protected.map { ($0, "protected", "nothing is protected there") }
            + markRoots.map { ($0, "mark-roots", "no mark counts there") }
            + locations.map {
                ($0.path, $0.kind == .temporary ? "temporary" : "caches", "nothing goes there")
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

    /// Refuses directories for caches or temporary files that may not be any.
    ///
    /// - Parameter environment: what the machine says about places under these settings.
    /// - Throws: `SettingsError`, naming each.
    package func requirePlausibleLocations(
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
