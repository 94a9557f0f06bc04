import SystemPackage

/// The input that makes restic exclude exactly what the plan excludes.
package struct ResticSelection: Sendable, Hashable {
    /// What to store.
    package enum Targets: Sendable, Hashable {
        /// The sources themselves, as arguments.
        case sources
        /// A list for `--files-from-raw`: absolute paths, each followed by a NUL.
        case list([UInt8])
    }

    /// What to store.
    package let targets: Targets
    /// The contents of the file for `--exclude-file`; empty when nothing needs a pattern.
    package let excludeFile: [UInt8]

    /// The largest number of file patterns for which a list of paths does not pay. restic matches
    /// every entry against every pattern, at about 30 ns each.
    static let fewPatterns = 100

    init(targets: Targets, patterns: [ResticPattern]) {
        self.targets = targets
        excludeFile = patterns.reduce(into: []) { $0 += $1.line + [UInt8(ascii: "\n")] }
    }

    /// Returns the exclusions that restic must be given: it excludes sockets by itself, and cannot
    /// open paths that are too long.
    static func exclusions(of plan: BackupPlan) -> [ExcludedItem] {
        plan.exclusions.filter { $0.reason != .socket && $0.reason != .tooLong }
    }
}

extension BackupPlan {
    /// Chooses how to make restic exclude what the plan excludes.
    ///
    /// Few excluded files are named in an exclude file. Many are excluded by listing the smallest
    /// cover of everything else; a directory needs a pattern either way, because its entry is
    /// stored.
    ///
    /// - Throws: `FileError` when the sources cannot be walked for the list.
    package func resticSelection() throws -> ResticSelection {
        let exclusions = ResticSelection.exclusions(of: self)
        let fileCount = exclusions.count { !$0.isDirectory }
        if fileCount <= ResticSelection.fewPatterns {
            return ResticSelection(
                targets: .sources, patterns: exclusions.flatMap { ResticPattern.patterns(for: $0) })
        }
        return try SmallestCover(sources: sources, exclusions: exclusions).selection()
    }
}
