import SystemPackage

/// The reason why a SOURCE cannot be backed up as requested.
public struct SourceError: Error, Sendable, Hashable {
    /// The source's real path.
    public let path: FilePath
    /// Why it is excluded.
    public let reason: ExclusionReason
    /// Another source that contains it and excludes it; nil when it would be excluded by itself
    /// too.
    public let enclosingSource: FilePath?

    /// What is wrong and how to proceed, without any path.
    public var description: String {
        if enclosingSource != nil {
            return "another SOURCE contains it and excludes it: \(reason.sentence)"
                + " (back it up in a run of its own)"
        }
        guard case .excluded = reason else { return "cannot be backed up: \(reason.sentence)" }
        return "is excluded from backups: \(reason.sentence)"
            + " (to back it up: resval set isExcludedFromBackup=false, or unset the mark)"
    }
}
