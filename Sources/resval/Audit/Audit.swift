import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

struct Audit {
    let environment: PolicyEnvironment
    let outcome: Outcome
    /// The size in bytes above which what backups include is large.
    let limit: Int64
    /// The work trees around what tools re-create, which have been asked already.
    let trees: WorkTrees?

    func findings(_ items: [AuditItem]) -> [Finding] {
        var findings = items.flatMap { item in
            item.markFindings
                + [
                    excludedDocuments(item), excludedTracked(item), lostContent(item),
                    fragile(item), leftBehind(item),
                ].compactMap(\.self)
        }
        findings += copiedMarks(items)
        findings += large(items)
        findings += unenforcedClasses(items)
        findings += unreachable(items)
        return findings.sorted(by: Finding.precedes)
    }

    /// Reports that something could not be looked at. An item that was removed meanwhile is not
    /// reported.
    func report(_ error: FileError) {
        guard error.code != .noSuchFile else { return }
        outcome.report(error)
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
            guard case .marked(let wanted) = item.decision.protection.ownCause,
                let verdict = verdicts.verdict(on: wanted, of: item.status), verdict == .advisory
            else { return nil }
            return Finding(
                .unenforced, item, "its class is \(wanted.rawValue): \(verdict.sentence)",
                command: nil)
        }
    }
}

extension Audit {
    /// Finds items that are marked purgeable and that no purge of their owner deletes, by a search
    /// as purges make it.
    func unreachable(_ items: [AuditItem]) -> [Finding] {
        let marked = items.filter {
            $0.decision.purgeability.ownCause == .marked && $0.status.owner == effectiveUser()
        }
        var findings: [Finding] = []
        var volumes: [UInt64: [FilePath: AuditItem]] = [:]
        for item in marked {
            do throws(FileError) {
                let named = try NamedItem(at: item.path)
                volumes[named.status.identity.device, default: [:]][named.path] = item
            } catch  where error.code == .unsafePath {
                findings.append(finding(item, KeepReason.unsafePath.sentence))
            } catch {
                report(error)
            }
        }
        for items in volumes.values where !StopRequest.isMade {
            do {
                for (path, reason) in try keptItems(at: Array(items.keys)) {
                    guard let item = items[path] else { continue }
                    findings.append(finding(item, reason))
                }
            } catch let error as FileError where error.code == .unsupportedFilesystem {
                findings += items.values.map { finding($0, error.message) }
            } catch let error as FileError {
                // What was not searched is not known, also when an item was removed meanwhile.
                outcome.report(error)
            } catch {
                // The search was stopped.
                return findings
            }
        }
        return findings
    }

    /// Searches items of one volume as a purge does, and returns those that are kept for a reason
    /// that will last.
    private func keptItems(at paths: [FilePath]) throws -> [FilePath: KeepReason] {
        guard let volume = paths.min(by: { $0.length < $1.length }) else { return [:] }
        var search = UnitSearch(environment)
        search.roots = paths
        search.minimumAge = 0
        search.smallest = 0
        search.shouldStop = { StopRequest.isMade }
        let kept: Monitor<[FilePath: KeepReason]> = Monitor([:])
        let found = try search.units(freeing: .max, on: volume, now: .now) { path, reason in
            kept.withLock { $0[FilePath(bytes: path)] = reason }
        }
        var lasting = kept.withLock { $0 }.filter { $0.value.isLasting }
        // An item can be a unit for another reason than its mark.
        for unit in found.units { lasting[FilePath(bytes: unit.path)] = nil }
        return lasting
    }

    private func finding(_ item: AuditItem, _ reason: KeepReason) -> Finding {
        switch reason {
        case .untrustedMark where item.status.isWritableByOthers:
            Finding(
                .unreachable, item,
                "purgeable, but its mark is not trusted: other users can write to it",
                command: "chmod go-w \(item.path.shellWord)")
        case .protected:
            finding(item, "something in it is pinned, and it is deleted whole or not at all")
        default:
            finding(item, reason.sentence)
        }
    }

    private func finding(_ item: AuditItem, _ reason: String) -> Finding {
        Finding(
            .unreachable, item, "purgeable, but \(reason)",
            command: "resval unset isPurgeable \(item.path.shellWord)")
    }
}
