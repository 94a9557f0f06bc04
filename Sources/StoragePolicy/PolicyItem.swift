import ResourceValues
import SystemPackage

/// One item on the way from the filesystem root to the item that is asked about.
public struct PolicyItem: Sendable, Hashable {
    /// The item's whole real path.
    public var path: FilePath
    /// The native marks stored on it.
    public var marks: Marks
    /// Its kind.
    public var kind: FileKind
    /// The marks of other programs on it.
    public var foreignMarks: ForeignMarks
    /// The number of its hard links; nil when unknown.
    public var linkCount: Int?
    /// Whether another filesystem begins at it.
    public var isMountRoot: Bool
    /// Whether its owner is another user than the one who asks.
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

/// Something to report about a directory above the item that was asked about.
public struct AncestorIssue: Sendable, Hashable {
    /// The directory.
    public let path: FilePath
    /// What has to be reported.
    public let issue: PolicyIssue
}

/// The decision on an item that was reached from the filesystem root.
public struct PathDecision: Sendable {
    /// The decision. Its ``Decision/contextForEntries`` begins a walk at the item.
    public let decision: Decision
    /// What has to be reported about the directories above, each once.
    public let ancestorIssues: [AncestorIssue]
}
