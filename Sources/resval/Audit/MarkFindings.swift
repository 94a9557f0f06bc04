import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

extension AuditItem {
    /// The findings that follow from the item's marks and those above it.
    var markFindings: [Finding] {
        malformedMarks + [conflict, uselessExclusion, uselessPurgeability].compactMap(\.self)
    }

    private var malformedMarks: [Finding] {
        decision.issues.compactMap { issue in
            guard case .malformed(let mark) = issue, !mark.isUnreadable else { return nil }
            let key = mark.keyName
            let acts = key == StoredKey.fileProtection.name ? "complete" : "false"
            return Finding(
                .malformed, self, "\(key) acts as \(acts): \(mark)",
                command: "resval set \(key)=\(acts) \(path.shellWord)")
        }
    }

    private var conflict: Finding? {
        for case .conflict(let excluding, let including) in decision.issues {
            // A native mark decides, whatever other programs' marks say.
            if excluding.union(including).contains(.native) { return nil }
            return Finding(
                .conflict, self,
                PolicyIssue.conflict(excluding: excluding, including: including).sentence,
                command: "resval set isExcludedFromBackup=false \(path.shellWord)")
        }
        return nil
    }

    private var uselessExclusion: Finding? {
        let unset = "resval unset isExcludedFromBackup \(path.shellWord)"
        switch (marks.isExcludedFromBackup, decision.exclusion) {
        case (true, .hardLinked):
            return Finding(
                .useless, self,
                "\(decision.exclusion.sentence); only a mark on its directory excludes it",
                command: unset)
        case (true, .inherited(let ancestor, .marked)):
            return Finding(
                .useless, self, "excluded, as is already a directory above it", at: ancestor,
                command: unset)
        case (false, .inherited(let ancestor, let reason)):
            return Finding(
                .useless, self,
                "its mark includes it, and does not count below an excluded directory",
                at: ancestor, command: inclusionCommand(reason, at: ancestor))
        default:
            return nil
        }
    }

    private var uselessPurgeability: Finding? {
        guard marks.isPurgeable == true,
            case .inherited(let ancestor, let reason) = decision.purgeability
        else { return nil }
        let unset = "resval unset isPurgeable \(path.shellWord)"
        if reason.isPurgeable {
            return Finding(
                .useless, self, "purgeable, as is already a directory above it, which goes whole",
                at: ancestor, command: unset)
        }
        return Finding(
            .unreachable, self, "purgeable, but a directory above it is pinned", at: ancestor,
            command: unset)
    }
}

/// Returns the command by which backups include an item again.
///
/// - Parameter exclusion: the item's own reason.
func inclusionCommand(_ exclusion: Exclusion, at path: FilePath) -> String {
    // A native mark overrules all others, also those that only some options count.
    exclusion == .marked
        ? "resval include \(path.shellWord)"
        : "resval set isExcludedFromBackup=false \(path.shellWord)"
}
