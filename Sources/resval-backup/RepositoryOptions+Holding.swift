import ArgumentParser
import BackupEngines
import CommandSupport
import Eviction

extension RepositoryOptions {
    /// Returns the engine, for files that are evicted into the repository.
    ///
    /// - Throws: `ValidationError` for plain archives, which cannot keep evicted files.
    func holder() throws -> any ContentHolding {
        guard let holder = try engine() as? any ContentHolding else {
            throw ValidationError("files cannot be evicted into plain archives (tar:DIR)")
        }
        return holder
    }

    /// Returns the engine for the repository with an identifier from a record: the named repository if
    /// it has this identifier, otherwise the one at the location in the journal.
    ///
    /// - Throws: `BackupError` when the named repository cannot be read, or no location is known.
    func holder(of identifier: String, _ journal: Journal?) async throws -> any ContentHolding {
        let known = try journal?.location(of: identifier)
        if location != nil {
            let named = try engine() as? any ContentHolding
            if let named, try await named.repositoryIdentifier().hasPrefix(identifier) {
                return named
            }
        }
        guard let known else {
            throw BackupError(
                .noRepository,
                "it is not known where repository \(identifier) is, which keeps evicted files",
                advice: "name it with --repository")
        }
        var options = self
        options.repository = PathArgument(bytes: known)
        return try options.holder()
    }
}
