import ResourceValues
import SystemPackage

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
    public var isOwnedBySomebodyElse: Bool
    /// Whether users other than its owner can write to it.
    public var isWritableByOthers: Bool

    /// Creates an item.
    public init(
        path: FilePath, marks: Marks = .none, kind: FileKind = .directory,
        foreignMarks: ForeignMarks = .none, linkCount: Int? = 1, isMountRoot: Bool = false,
        isOwnedBySomebodyElse: Bool = false, isWritableByOthers: Bool = false
    ) {
        self.path = path
        self.marks = marks
        self.kind = kind
        self.foreignMarks = foreignMarks
        self.linkCount = linkCount
        self.isMountRoot = isMountRoot
        self.isOwnedBySomebodyElse = isOwnedBySomebodyElse
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
