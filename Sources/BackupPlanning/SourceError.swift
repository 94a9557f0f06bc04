import StoragePolicy
import SystemPackage

/// Why a SOURCE cannot be backed up as it was asked for.
public struct SourceError: Error, Sendable, Hashable {
    /// The source's real path.
    public let path: FilePath
    /// Why the policy leaves it out.
    public let exclusion: Exclusion
    /// Another source that it lies in and that leaves it out; nil when stored marks exclude it.
    public let enclosingSource: FilePath?

    /// What is wrong and how to go on, without any path.
    public var description: String {
        if enclosingSource != nil {
            return "another SOURCE holds it and leaves it out: \(exclusion.sentence)"
                + " (back it up in a run of its own)"
        }
        return "is excluded from backups: \(exclusion.sentence)"
            + " (to back it up: resval set isExcludedFromBackup=false, or unset the mark)"
    }
}
