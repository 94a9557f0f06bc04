import ResourceValues
import StoragePolicy
import SystemPackage

/// An item with the values that apply to it.
public struct EffectiveItem: Sendable {
    /// The item's real path.
    public let path: FilePath
    /// The item's status.
    public let status: FileStatus
    /// The marks stored on the item itself.
    public let marks: Marks
    /// The values that apply, with reasons. Its ``Decision/contextForEntries`` begins a walk at the
    /// item whose answers are those of a walk from the filesystem root.
    public let decision: Decision
    /// What has to be reported about the directories above.
    public let ancestorIssues: [AncestorIssue]

    fileprivate init(_ last: ChainItem, _ answer: PathDecision) {
        path = last.item.path
        status = last.status
        marks = last.item.marks
        decision = answer.decision
        ancestorIssues = answer.ancestorIssues
    }
}

/// Reads what is stored on an item and on everything above it, and asks the policy what applies.
public struct EffectiveValueReader: Sendable {
    /// The policy that decides.
    public let policy: StoragePolicy
    /// The directory whose backup is asked about, as a real path; nil stands for `/`.
    public let source: FilePath?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - policy: the policy that decides.
    ///   - source: the directory whose backup is asked about: only locations strictly below it count.
    ///     nil stands for `/`.
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

    /// The values that apply to an item, and the context of a walk that begins there.
    ///
    /// - Parameters:
    ///   - path: absolute, or from the working directory; of any length.
    ///   - followsLast: whether a symbolic link at the end is followed.
    /// - Throws: ``FileError`` as ``realPath(of:followsLast:)`` and ``ancestorChain(of:)`` do.
    public func item(
        at path: FilePath, followsLast: Bool = true
    ) throws(FileError) -> EffectiveItem {
        try item(at: path, followsLast: followsLast) { policy.decide($0, source: source) }
    }

    /// A SOURCE of a backup with the decision on it and the context its walk begins with.
    ///
    /// When the decision excludes the SOURCE, the backup must refuse with the reason.
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
