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

extension Array {
    /// The elements whose items the walk of no other one meets, each item once.
    ///
    /// - Parameters:
    ///   - staysOnFilesystem: whether a walk enters no other filesystem.
    ///   - item: returns the item at which the walk of an element begins.
    package func withoutNested(
        _ mounts: MountTable, staysOnFilesystem: Bool, _ item: (Element) -> EffectiveItem
    ) -> [Element] {
        func isWalked(_ inner: EffectiveItem, from outer: EffectiveItem) -> Bool {
            guard inner.path.isHeld(by: outer.path) else { return false }
            return inner.status.identity.device == outer.status.identity.device
                || !staysOnFilesystem && mounts.mount(holding: inner.path)?.category == .local
        }
        return enumerated().filter { index, element in
            !enumerated().contains { other, outer in
                item(outer).path == item(element).path
                    ? other < index : isWalked(item(element), from: item(outer))
            }
        }.map(\.element)
    }
}

/// Reads the marks on an item and on every directory above it, and derives the effective values.
public struct EffectiveValueReader: Sendable {
    /// The policy that decides.
    public let policy: StoragePolicy
    /// The reader of the marks that the policy counts. A walk uses it, too: what the rules and git say
    /// of directories above is then known.
    public let markReader: MarkReader

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - policy: the policy that decides.
    ///   - source: the source directory of the backup in question: only locations strictly below it
    ///     count. nil means `/`.
    /// - Throws: ``FileError`` when the source has no real path, and as
    ///   ``MarkReader/current(_:)``.
    public init(_ policy: StoragePolicy, source: FilePath? = nil) throws(FileError) {
        markReader = try .current(policy.markers)
        let real = try source.map { source throws(FileError) in try realPath(of: source) }
        self.policy = real.map { policy.prepared(forSource: $0) } ?? policy
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
        try item(at: path, followsLast: followsLast, isSource: false)
    }

    /// Returns a backup's SOURCE with the decision on it and the context of its walk.
    ///
    /// When the decision excludes the SOURCE, the backup must refuse and give the reason.
    ///
    /// - Throws: as ``item(at:followsLast:)``.
    public func source(at path: FilePath) throws(FileError) -> EffectiveItem {
        try item(at: path, followsLast: true, isSource: true)
    }

    private func item(
        at path: FilePath, followsLast: Bool, isSource: Bool
    ) throws(FileError) -> EffectiveItem {
        let chain = try ancestorChain(
            of: try realPath(of: path, followsLast: followsLast),
            reader: markReader)
        guard let last = chain.last else { throw .opening(.noSuchFileOrDirectory, path) }
        let policy = isSource ? policy.prepared(forSource: last.item.path) : policy
        return EffectiveItem(last, policy.decide(chain.map(\.item)))
    }
}

/// One item on the path from `/` to a file, as found on disk.
package struct ChainItem: Sendable, Hashable {
    package let item: PolicyItem
    package let status: FileStatus
}

/// Returns every item from `/` down to a path, with its status and marks.
///
/// Opens each item by descriptor, relative to its parent, and follows no symbolic links. The path
/// may therefore have any length, and the lookup cannot be redirected.
///
/// - Parameters:
///   - path: a real path, as returned by ``realPath(of:followsLast:)``.
///   - reader: reads the marks of each item.
/// - Returns: the items in order, `/` first.
/// - Throws: ``FileError``, naming the item that failed: `noSuchFile`, `permissionDenied`,
///   `notADirectory`, and `changed` when an item was replaced meanwhile.
package func ancestorChain(
    of path: FilePath, reader: MarkReader = MarkReader()
) throws(FileError) -> [ChainItem] {
    var reached: FilePath = "/"
    var directory = try calls(on: reached, FileError.opening) { () throws(Errno) in
        try OwnedDescriptor(openDirectoryReference("/"))
    }
    let root = try directory.descriptor.named(reached).fileStatus()
    let rootMarks = try reader.marks(of: reached, kind: root.kind, status: root)
    var chain = [ChainItem(root, rootMarks, path: reached, above: nil)]
    var names: [ArraySlice<UInt8>] = []
    for name in path.names {
        names.append(name)
        reached = FilePath(names: names)
        let location = DirectoryEntryLocation(
            directory: directory.descriptor, name: FilePath(bytes: name),
            pathForMessages: reached)
        let opened = try OpenedItem(at: location, reader)
        chain.append(ChainItem(opened.status, opened.marks, path: reached, above: chain.last))
        directory = opened.descriptor
    }
    return chain
}

private struct OpenedItem: ~Copyable {
    let descriptor: OwnedDescriptor
    let status: FileStatus
    let marks: ItemMarks

    /// Opens an item and reads its marks by name. One that programs replace by new files is tried again a
    /// few times.
    ///
    /// - Throws: ``FileError`` `changed` when another file had the name each time.
    init(at location: DirectoryEntryLocation, _ reader: MarkReader) throws(FileError) {
        let path = location.pathForMessages
        for _ in 0..<mostReplacements {
            let item = try calls(on: path, FileError.opening) { () throws(Errno) in
                try OwnedDescriptor(openReference(location.name, in: location.directory))
            }
            let found = try item.descriptor.named(path).fileStatus()
            var read = ItemMarks.none
            var isItself = true
            if found.kind.canStoreUserAttributes {
                read = try reader.marks(of: location, kind: found.kind, status: found)
                isItself = try location.fileStatus().identity == found.identity
            }
            guard isItself else { continue }
            descriptor = item
            (status, marks) = (found, read)
            return
        }
        throw FileError(
            code: .changed, message: "was replaced by another file meanwhile",
            advice: "run again", path: path)
    }
}

private let mostReplacements = 16

extension ChainItem {
    fileprivate init(
        _ status: FileStatus, _ marks: ItemMarks, path: FilePath, above: ChainItem?
    ) {
        let isOnOtherDevice = above.map { $0.status.identity.device != status.identity.device }
        item = PolicyItem(
            path: path, marks: marks.native, kind: status.kind, foreignMarks: marks.foreign,
            linkCount: status.linkCount,
            isMountRoot: status.isMountRoot ?? isOnOtherDevice ?? true,
            isOwnedByAnotherUser: status.owner != effectiveUser(),
            isWritableByOthers: status.isWritableByOthers)
        self.status = status
    }
}
