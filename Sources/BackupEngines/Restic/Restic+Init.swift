import SystemCalls
import SystemPackage

extension Restic {
    /// Makes a repository.
    ///
    /// restic itself would make one in a directory full of other files.
    ///
    /// - Throws: ``BackupError``: `repositoryExists`, `targetNotEmpty`, or what restic ended with.
    package func initialize() async throws(BackupError) {
        if let directory = repository.directory, try !isFree(directory) {
            throw BackupError(
                .targetNotEmpty, "the directory is not empty", advice: "name a new one",
                path: directory)
        }
        _ = try await run(ResticCommand("init"), reading: NoOutput())
    }

    /// Whether nothing is in the way of a repository; a repository that exists is restic's to
    /// refuse.
    private func isFree(_ directory: FilePath) throws(BackupError) -> Bool {
        do throws(Errno) {
            _ = try directory.appending("config").status()
            return true
        } catch {
            return try isEmptyOrAbsent(directory)
        }
    }
}
