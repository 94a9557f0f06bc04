import SystemPackage

/// How restic is told what to store: lists that leave out exactly what the plan leaves out.
public struct ResticSelection: Sendable, Hashable {
    /// What to store.
    public enum Targets: Sendable, Hashable {
        /// The sources themselves, as arguments.
        case sources
        /// A list for `--files-from-raw`: absolute paths, a NUL behind each.
        case list([UInt8])
    }

    /// What to store.
    public let targets: Targets
    /// The contents of the file for `--exclude-file`; empty when nothing needs a pattern.
    public let excludeFile: [UInt8]

    /// The most patterns that are not worth a list in their place. restic matches every entry against
    /// every pattern, at about 30 ns each.
    static let fewPatterns = 100

    init(targets: Targets, patterns: [ResticPattern]) {
        self.targets = targets
        excludeFile = patterns.reduce(into: []) { $0 += $1.line + [UInt8(ascii: "\n")] }
    }

    /// The exclusions restic has to be told of: it leaves out sockets by itself, and cannot open
    /// paths that are too long.
    static func exclusions(of plan: BackupPlan) -> [LeftOutItem] {
        plan.exclusions.filter { $0.reason != .socket && $0.reason != .tooLong }
    }
}

extension BackupPlan {
    /// Chooses the way to tell restic what to leave out.
    ///
    /// Few exclusions go into an exclude file. Many files are left out by listing the smallest cover of
    /// everything else; a directory needs a pattern either way, because its entry is stored.
    ///
    /// - Throws: `FileError` when the sources cannot be walked for the list.
    public func resticSelection() throws -> ResticSelection {
        let exclusions = ResticSelection.exclusions(of: self)
        let fileCount = exclusions.count { !$0.isDirectory }
        if fileCount <= ResticSelection.fewPatterns {
            return ResticSelection(
                targets: .sources, patterns: exclusions.flatMap { ResticPattern.patterns(for: $0) })
        }
        return try SmallestCover(sources: sources, exclusions: exclusions).selection()
    }
}
