import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Reads what the rules must know of an item.
extension UnitVisitor {
    struct Seen {
        let status: FileStatus
        let decision: Decision
        /// Whether the item itself has a mark `isPurgeable=true`.
        let isMarked: Bool
        let isTagged: Bool
        /// What tmpfiles.d says about the item, and what it may say about items below.
        let listed: KeptPaths.Match?
        let keptPaths: KeptPaths.Position
    }

    func look(
        at entry: borrowing some SearchedItem & ~Copyable, in context: PurgeContext
    ) throws(FileError) -> Seen {
        let status: FileStatus
        do throws(Errno) {
            // The item may be a dead mount, which never answers.
            status = try entry.statusAtHand()
        } catch {
            throw FileError(error, of: entry.path)
        }
        let found = try marks(of: entry, status, in: context)
        let decision =
            found == nil && context.policy.isEmpty
            ? Decision.unmarked
            : rules.policy.decide(
                found?.native ?? .none, kind: status.kind, in: context.policy,
                name: entry.nameBytes, path: entry.path, linkCount: status.linkCount,
                isMountRoot: false)
        var listed: (KeptPaths.Match?, KeptPaths.Position) = (nil, context.keptPaths)
        // The context of a root already has the root's own position.
        if entry.depth > 0, !context.keptPaths.isEmpty {
            listed = rules.keptPaths.step(from: context.keptPaths, to: entry.nameBytes)
        }
        return Seen(
            status: status, decision: decision,
            isMarked: found?.native.isPurgeable == true,
            isTagged: found?.foreign.excluding.contains(.cachedir) ?? false, listed: listed.0,
            keptPaths: listed.1)
    }

    /// Whether an `isPurgeable` mark counts: marks are heeded and trusted where the item lies, and
    /// only its owner can have set it.
    func hasMarkThatCounts(_ seen: Seen, in context: PurgeContext) -> Bool {
        seen.isMarked && context.heedsMarks && context.trustsMarks && rules.isTrusted(seen.status)
    }

    /// Returns the marks of an item; nil when it has none that are looked for.
    private func marks(
        of entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus,
        in context: PurgeContext
    ) throws(FileError) -> ItemMarks? {
        // The item mounted here is not inspected, and reading from it may block for ever.
        if entry.depth > 0, status.isMountRoot == true { return nil }
        if status.kind == .directory, context.unit == nil, case .caches = context.place {
            return try marksAndTags.marks(of: entry, kind: status.kind, status: status)
        }
        guard status.kind.canStoreUserAttributes, mayHaveMarks(entry) else { return nil }
        return try marks.marks(of: entry, kind: status.kind, status: status)
    }

    /// Whether reading marks is worthwhile: most items have no extended attributes at all.
    private func mayHaveMarks(_ entry: borrowing some SearchedItem & ~Copyable) -> Bool {
        do throws(Errno) {
            return try entry.hasExtendedAttributes()
        } catch {
            // Reading the marks reports the error.
            return true
        }
    }
}
