import EffectiveValues
import StorageManagement
import SystemPackage

/// A storage monitor: prints the first pressure of a volume, and what may still be stored there.
func watch(_ path: FilePath) async throws {
    var monitor = StorageMonitor(path)
    // Whatever the volume has left, it is enough.
    monitor.thresholds.lowBytes.amount = 0
    monitor.thresholds.criticalBytes.amount = 0
    monitor.thresholds.lowInodes.amount = 0
    monitor.thresholds.criticalInodes.amount = 0
    for try await state in monitor {
        print("pressure: \(state.pressure)")
        break
    }
    guard let capacity = try UsageCapacity(at: path) else { return }
    let parts = [capacity.opportunistic, capacity.available, capacity.important, capacity.total]
    print("capacities in order: \(parts == parts.sorted())")
    print("caches: \(try StorageLocation.current(.caches).path)")
}

/// Keeps a program's own cache small.
func trim(_ cache: FilePath) throws {
    var trimmer = try CacheTrimmer(cache)
    trimmer.minimumAge = 0
    let outcome = try trimmer.trim(toSize: 0)
    print("trimmed: units: \(outcome.removedCount), failures: \(outcome.failures.count)")
    for (path, reason) in outcome.kept { print("kept \(path): \(reason.sentence)") }
}
