import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

/// The sources of a plan, as real paths.
struct ResolvedSources {
    /// The sources to walk.
    var walked: [EffectiveItem] = []
    /// The sources that lie inside another source, or repeat one.
    var nested: [FilePath] = []

    /// Verifies that the plan stores every source.
    ///
    /// A source can be the repository, and a mount point can lie between a source and the source
    /// that contains it: only the walk sees that.
    ///
    /// - Throws: ``SourceError``.
    func expectStored(by plan: BackupPlan) throws {
        for path in walked.map(\.path) + nested {
            guard let obstacle = plan.exclusions.first(where: { path.starts(with: $0.path) }) else {
                continue
            }
            let enclosing = plan.sources.first { path != $0 && path.starts(with: $0) }
            throw SourceError(path: path, reason: obstacle.reason, enclosingSource: enclosing)
        }
    }
}

extension BackupPlanner {
    /// Resolves sources to their real paths and separates those that lie inside another source.
    func resolve(
        _ sources: [FilePath], _ reader: EffectiveValueReader
    ) throws -> ResolvedSources {
        var items: [EffectiveItem] = []
        for source in sources {
            let item = try reader.source(at: source)
            guard !item.decision.isExcluded else {
                throw SourceError(
                    path: item.path, reason: .excluded(item.decision.exclusion),
                    enclosingSource: nil)
            }
            items.append(item)
        }
        var resolved = ResolvedSources()
        for (index, item) in items.enumerated() {
            if try isNested(item, at: index, in: items) {
                resolved.nested.append(item.path)
            } else {
                resolved.walked.append(item)
            }
        }
        return resolved
    }

    /// Whether another source contains this one, or an earlier source has the same path.
    private func isNested(
        _ item: EffectiveItem, at index: Int, in items: [EffectiveItem]
    ) throws -> Bool {
        for (other, enclosing) in items.enumerated() where other != index {
            if enclosing.path == item.path {
                if other < index { return true }
                continue
            }
            guard item.path.starts(with: enclosing.path) else { continue }
            let inside = try EffectiveValueReader(policy, source: enclosing.path)
                .item(at: item.path)
            guard !inside.decision.isExcluded else {
                throw SourceError(
                    path: item.path, reason: .excluded(inside.decision.exclusion),
                    enclosingSource: enclosing.path)
            }
            return true
        }
        return false
    }
}

/// The reason why a SOURCE cannot be backed up as requested.
public struct SourceError: Error, Sendable, Hashable {
    /// The source's real path.
    public let path: FilePath
    /// Why it is excluded.
    public let reason: ExclusionReason
    /// Another source that contains it and excludes it; nil when it would be excluded by itself
    /// too.
    public let enclosingSource: FilePath?

    /// What is wrong and how to proceed, without the source's path before it.
    public var description: String {
        if enclosingSource != nil {
            return "another SOURCE contains it and excludes it: \(reason.sentence)"
                + " (back it up in a run of its own)"
        }
        guard case .excluded(let exclusion) = reason else {
            return "cannot be backed up: \(reason.sentence)"
        }
        // Inside a marked directory no mark of the item itself counts.
        let marked = if case .inherited(let from, _) = exclusion { from } else { path }
        return "is excluded from backups: \(reason.sentence)"
            + " (to back it up: resval set isExcludedFromBackup=false \(ShellWord.quoted(marked.bytes)))"
    }
}
