import ResourceValues
import SystemPackage

extension StoragePolicy {
    /// Decides about one item, given all items from the filesystem root down to it.
    ///
    /// Location rules apply only strictly below a SOURCE, so a SOURCE may be a location or inside
    /// one. If the decision excludes the SOURCE itself, a stored mark on it or above it does, and a
    /// backup must refuse with that reason.
    ///
    /// - Parameter chain: all items from `/` to the item itself, in this order. An empty chain is
    ///   treated as an unmarked `/`.
    public func decide(_ chain: [PolicyItem]) -> PathDecision {
        var decision = Decision(
            verdict: nil, contextForEntries: PolicyContext(inherited: nil, place: tree))
        var issues: [AncestorIssue] = []
        let firstOwn = chain.firstIndex { $0.path == source } ?? max(chain.count - 1, 0)
        for (index, var item) in chain.enumerated() {
            var own = index < firstOwn ? item.disregardUnreadableMarks() : []
            decision = decide(item, in: decision.contextForEntries, isFirst: index == 0)
            guard index < chain.count - 1 else { break }
            // An unreadable mark that is reported already is not reported again.
            own += own.isEmpty ? decision.issues : decision.issues.filter { !$0.isUnreadable }
            issues += own.map { AncestorIssue(path: item.path, issue: $0) }
        }
        return PathDecision(decision: decision, ancestorIssues: issues)
    }

    private func decide(
        _ item: PolicyItem, in context: PolicyContext, isFirst: Bool
    ) -> Decision {
        let place =
            isFirst
            ? context.place
            : item.path.lastComponent.flatMap { context.place?.entry(named: $0.bytes) }
        let isKept = isKeptTagFile(
            item.kind, in: context, name: { item.path.lastComponent?.bytes ?? [] },
            path: { item.path })
        return decide(
            OwnMarks(
                native: item.marks, foreign: item.foreignMarks, kind: item.kind,
                isKeptTagFile: isKept),
            below: context.inherited, at: place, path: { item.path },
            linkCount: { item.linkCount }, isMountRoot: { item.isMountRoot },
            isWritableByOthers: { item.isWritableByOthers })
    }
}

extension PolicyItem {
    /// Treats unreadable marks on another user's item as unset for backups; purging still treats
    /// them as `false`.
    ///
    /// - Returns: the issues to report.
    fileprivate mutating func disregardUnreadableMarks() -> [PolicyIssue] {
        guard isOwnedByAnotherUser else { return [] }
        let unreadable = marks.broken.filter(\.isUnreadable)
        for key in [StoredKey.isExcludedFromBackup, .fileProtection] {
            if case .unreadable = marks[key] { marks[key] = .unset }
        }
        return unreadable.map { .unreadableAncestor($0) }
    }
}

extension PolicyIssue {
    fileprivate var isUnreadable: Bool {
        if case .malformed(let mark) = self { mark.isUnreadable } else { false }
    }
}

/// An item on the path from the filesystem root to the item the decision is about.
public struct PolicyItem: Sendable, Hashable {
    /// The item's absolute real path.
    public var path: FilePath
    /// The native marks stored on it.
    public var marks: Marks
    /// Its kind.
    public var kind: FileKind
    /// The marks of other programs on it.
    public var foreignMarks: ForeignMarks
    /// The number of its hard links; nil if unknown.
    public var linkCount: Int?
    /// Whether it is the root of a mount.
    public var isMountRoot: Bool
    /// Whether its owner is another user than the one the decision is for.
    public var isOwnedByAnotherUser: Bool
    /// Whether users other than its owner can write to it.
    public var isWritableByOthers: Bool

    /// Creates an item.
    public init(
        path: FilePath, marks: Marks = .none, kind: FileKind = .directory,
        foreignMarks: ForeignMarks = .none, linkCount: Int? = 1, isMountRoot: Bool = false,
        isOwnedByAnotherUser: Bool = false, isWritableByOthers: Bool = false
    ) {
        self.path = path
        self.marks = marks
        self.kind = kind
        self.foreignMarks = foreignMarks
        self.linkCount = linkCount
        self.isMountRoot = isMountRoot
        self.isOwnedByAnotherUser = isOwnedByAnotherUser
        self.isWritableByOthers = isWritableByOthers
    }
}

/// An issue to report about a directory above the item the decision is about.
public struct AncestorIssue: Sendable, Hashable {
    /// The directory.
    public let path: FilePath
    /// The issue.
    public let issue: PolicyIssue
}

/// The decision about an item, made from the filesystem root down.
public struct PathDecision: Sendable {
    /// The decision. Its ``Decision/contextForEntries`` is the context for a walk that starts at
    /// the item.
    public let decision: Decision
    /// The issues to report about the directories above, each once.
    public let ancestorIssues: [AncestorIssue]
}
