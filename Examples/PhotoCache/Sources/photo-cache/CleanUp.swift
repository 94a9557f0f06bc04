import Dispatch
import ResourceValuesDropIn
import StorageManagement
import SystemPackage

extension PhotoCache {
    /// Deletes the photos that were not used for the longest time, until the cache has the size that the
    /// user wants. Photos that are open stay, and so does what was used in the last `age` seconds.
    ///
    /// Runs on a thread for work in the background, and ends early when the task is cancelled.
    func cleanUp(sparing age: Int64) async throws -> TrimOutcome {
        var trimmer = try CacheTrimmer(FilePath(directory.path))
        trimmer.minimumAge = age
        return try await withTaskCancellationHandler { [trimmer] in
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global(qos: .background).async {
                    continuation.resume(
                        with: Result { try trimmer.trim(toSize: settings.cacheSize) })
                }
            }
        } onCancel: { [trimmer] in
            trimmer.stop()
        }
    }
}
