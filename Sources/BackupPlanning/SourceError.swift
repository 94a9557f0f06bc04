import SystemPackage

/// Why a SOURCE cannot be backed up as it was asked for.
public struct SourceError: Error, Sendable, Hashable {
    /// The source's real path.
    public let path: FilePath
    /// Why it is left out.
    public let reason: LeftOutReason
    /// Another source that it lies in and that leaves it out; nil when it would be left
    /// out alone too.
    public let enclosingSource: FilePath?

    /// What is wrong and how to go on, without any path.
    public var description: String {
        if enclosingSource != nil {
            return "another SOURCE holds it and leaves it out: \(reason.sentence)"
                + " (back it up in a run of its own)"
        }
        guard case .excluded = reason else { return "cannot be backed up: \(reason.sentence)" }
        return "is excluded from backups: \(reason.sentence)"
            + " (to back it up: resval set isExcludedFromBackup=false, or unset the mark)"
    }
}
