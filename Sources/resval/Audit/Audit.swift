import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Examines the items that the walk of an audit collected, one after another.
struct Audit {
    let environment: PolicyEnvironment
    let outcome: Outcome
    /// The size in bytes above which what backups include is large.
    let limit: Int64

    /// Returns what is wrong with items, sorted.
    func findings(_ items: [AuditItem]) -> [Finding] {
        let trees = WorkTrees(
            askedAbout: Set(items.compactMap { $0.path.lastComponent?.bytes }))
        var findings = items.flatMap { item in
            item.markFindings
                + [
                    excludedDocuments(item), excludedTracked(item, trees), lostContent(item),
                    fragile(item, trees),
                ].compactMap(\.self)
        }
        findings += large(items)
        findings += unenforcedClasses(items)
        findings += unreachable(items)
        return findings.sorted(by: Finding.precedes)
    }

    /// Reports that something could not be looked at. An item that was removed meanwhile is not
    /// reported.
    func report(_ error: FileError) {
        guard error.code != .noSuchFile else { return }
        Messages.write(error)
        outcome.noteFailure()
    }

    private func large(_ items: [AuditItem]) -> [Finding] {
        var linked: [FileIdentity: Finding] = [:]
        var findings: [Finding] = []
        for item in items {
            let count = item.status.linkCount
            if let recreation = item.recreation, !item.decision.isExcluded, item.size > limit {
                findings.append(
                    Finding(
                        .large, item,
                        "backups include it, and it is re-creatable: \(recreation.proof) "
                            + "(\(recreation.tool))",
                        command: "resval exclude \(item.path.shellWord)"))
            } else if item.isLarge, count == 1 {
                findings.append(
                    Finding(
                        .large, item, "backups include it, and nothing says that they should",
                        command: "resval exclude \(item.path.shellWord)"))
            } else if item.isLarge {
                let finding = Finding(
                    .large, item,
                    "backups include it; it has \(count) hard links, so that only a mark on its "
                        + "directory excludes it", command: nil)
                // One of its names is enough, and always the same.
                let identity = item.status.identity
                if linked[identity].map({ Finding.precedes(finding, $0) }) ?? true {
                    linked[identity] = finding
                }
            }
        }
        return findings + linked.values
    }

    private func unenforcedClasses(_ items: [AuditItem]) -> [Finding] {
        var verdicts = ProtectionVerdicts()
        return items.compactMap { item in
            guard case .marked(let wanted) = item.decision.protection,
                let verdict = verdicts.verdict(on: wanted, of: item.status), verdict == .advisory
            else { return nil }
            return Finding(
                .unenforced, item, "its class is \(wanted.rawValue): \(verdict.sentence)",
                command: nil)
        }
    }
}
