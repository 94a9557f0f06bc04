import ArgumentParser
import BackupEngines
import CommandSupport

extension RepositoryOptions {
    /// The engine, for files that are evicted into the repository.
    ///
    /// - Parameter location: the repository when none is named.
    func holder(orAt location: [UInt8]? = nil) throws -> any ContentHolding {
        var options = self
        if self.location == nil, let location { options.repository = PathArgument(bytes: location) }
        guard let holder = try options.engine() as? any ContentHolding else {
            throw ValidationError("Files cannot be evicted into plain archives (tar:DIR).")
        }
        return holder
    }
}
