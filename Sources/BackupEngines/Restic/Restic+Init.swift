import SystemCalls
import SystemPackage

extension Restic {
    /// Creates a repository.
    ///
    /// Refuses a directory with other files in it, which restic itself would accept.
    ///
    /// - Throws: ``BackupError``: `repositoryExists`, `targetNotEmpty`, or the error that restic
    ///   reports.
    package func initialize() async throws(BackupError) {
        if let directory = repository.directory, try !isFree(directory) {
            throw BackupError(
                .targetNotEmpty, "the directory is not empty", advice: "name a new one",
                path: directory)
        }
        _ = try await run(ResticCommand("init"), reading: NoOutput())
    }

    /// Whether a repository can be created in a directory. An existing repository counts as free,
    /// since restic refuses it itself.
    private func isFree(_ directory: FilePath) throws(BackupError) -> Bool {
        do throws(Errno) {
            _ = try directory.appending("config").status()
            return true
        } catch {
            return try isEmptyOrAbsent(directory)
        }
    }
}
