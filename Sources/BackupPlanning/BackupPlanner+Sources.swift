import EffectiveValues
import StoragePolicy
import SystemPackage

extension BackupPlanner {
    /// Resolves sources to their real paths and drops those that another one holds.
    func resolve(_ sources: [FilePath]) throws -> [EffectiveItem] {
        let reader = try EffectiveValueReader(policy)
        var items: [EffectiveItem] = []
        for source in sources {
            let item = try reader.source(at: source)
            guard !item.decision.isExcluded else {
                throw SourceError(
                    path: item.path, exclusion: item.decision.exclusion, enclosingSource: nil)
            }
            items.append(item)
        }
        return try items.indices.compactMap { index in
            try isHeld(items[index], at: index, in: items) ? nil : items[index]
        }
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
                    path: item.path, exclusion: inside.decision.exclusion,
                    enclosingSource: enclosing.path)
            }
            return true
        }
        return false
    }
}
