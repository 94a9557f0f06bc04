import ResourceValues
import StoragePolicy
import SystemPackage

/// An item with its effective values.
public struct EffectiveItem: Sendable {
    /// The item's real path.
    public let path: FilePath
    /// The item's status.
    public let status: FileStatus
    /// The marks stored on the item itself.
    public let marks: Marks
    /// The effective values, with reasons. A walk that begins at the item with its
    /// ``Decision/contextForEntries`` gives the same answers as a walk from the filesystem root.
    public let decision: Decision
    /// The issues to report about the directories above.
    public let ancestorIssues: [AncestorIssue]

    fileprivate init(_ last: ChainItem, _ answer: PathDecision) {
        path = last.item.path
        status = last.status
        marks = last.item.marks
        decision = answer.decision
        ancestorIssues = answer.ancestorIssues
    }
}

/// Reads the marks on an item and on every directory above it, and derives the effective values.
public struct EffectiveValueReader: Sendable {
    /// The policy that decides.
    public let policy: StoragePolicy
    /// The source directory of the backup in question, as a real path; nil means `/`.
    public let source: FilePath?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - policy: the policy that decides.
    ///   - source: the source directory of the backup in question: only locations strictly below it
    ///     count. nil means `/`.
    /// - Throws: ``FileError`` when the source has no real path.
    public init(_ policy: StoragePolicy, source: FilePath? = nil) throws(FileError) {
        guard let source else {
            self.policy = policy
            self.source = nil
            return
        }
        let real = try realPath(of: source)
        self.policy = policy.prepared(forSource: real)
        self.source = real
    }

    /// Returns an item with its effective values, and the context of a walk that begins there.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory; of any length.
    ///   - followsLast: whether a symbolic link at the end is followed.
    /// - Throws: ``FileError``, naming the item that failed: `noSuchFile`, `permissionDenied`,
    ///   `notADirectory`, `symbolicLinkLoop` (more than 40 links), `changed` when an item was
    ///   replaced meanwhile, and others.
    public func item(
        at path: FilePath, followsLast: Bool = true
    ) throws(FileError) -> EffectiveItem {
        try item(at: path, followsLast: followsLast) { policy.decide($0, source: source) }
    }

    /// Returns a backup's SOURCE with the decision on it and the context of its walk.
    ///
    /// When the decision excludes the SOURCE, the backup must refuse and give the reason.
    ///
    /// - Throws: as ``item(at:followsLast:)``.
    public func source(at path: FilePath) throws(FileError) -> EffectiveItem {
        try item(at: path, followsLast: true) { policy.context(forSource: $0) }
    }

    private func item(
        at path: FilePath, followsLast: Bool, _ decide: ([PolicyItem]) -> PathDecision
    ) throws(FileError) -> EffectiveItem {
        let chain = try ancestorChain(
            of: try realPath(of: path, followsLast: followsLast),
            reader: MarkReader(policy.markers))
        guard let last = chain.last else { throw .opening(.noSuchFileOrDirectory, path) }
        return EffectiveItem(last, decide(chain.map(\.item)))
    }
}
