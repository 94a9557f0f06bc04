import EffectiveValues
import StoragePolicy
import SystemPackage

/// The sources of a plan, as real paths.
struct ResolvedSources {
    /// Those to walk.
    var walked: [EffectiveItem] = []
    /// Those that are walked with another, or are another's double.
    var held: [FilePath] = []

    /// Makes sure that every source is stored.
    ///
    /// A source can be the repository, and between one and another that holds it can be a mount:
    /// only the walk sees that.
    ///
    /// - Throws: ``SourceError``.
    func expectStored(by plan: BackupPlan) throws {
        for path in walked.map(\.path) + held {
            guard let obstacle = plan.exclusions.first(where: { path.starts(with: $0.path) }) else {
                continue
            }
            let enclosing = plan.sources.first { path != $0 && path.starts(with: $0) }
            throw SourceError(path: path, reason: obstacle.reason, enclosingSource: enclosing)
        }
    }
}

extension BackupPlanner {
    /// Resolves sources to their real paths and sets those apart that another one holds.
    func resolve(_ sources: [FilePath]) throws -> ResolvedSources {
        let reader = try EffectiveValueReader(policy)
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
            if try isHeld(item, at: index, in: items) {
                resolved.held.append(item.path)
            } else {
                resolved.walked.append(item)
            }
        }
        return resolved
    }

    /// Whether another source holds this one, or comes before the same one.
    private func isHeld(
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
