import FileTree
import ResourceValues
import Synchronization
import SystemCalls
import SystemPackage

/// The shortest list of paths that covers everything but the exclusions: one path for a directory
/// without any exclusion below it, single items only next to excluded ones.
struct SmallestCover {
    private let roots: [CoverNode]
    private let exclusions: [ExcludedItem]

    /// Creates the cover.
    ///
    /// - Parameter exclusions: items below the sources.
    init(sources: [FilePath], exclusions: [ExcludedItem]) {
        roots = sources.map { CoverNode(path: $0) }
        self.exclusions = exclusions
        for item in exclusions {
            let root = roots.first { item.path.starts(with: $0.path) }
            guard let root else { continue }
            let names = Array(item.path.components).dropFirst(root.path.components.count)
            root.insert(names, item)
        }
    }

    /// Walks the directories that have exclusions below them and lists the rest.
    func selection() throws -> ResticSelection {
        let list = CoverList()
        let scanner = TreeScanner(followsRoots: false)
        let opened = roots.filter { !$0.isWhole }
        for root in roots where root.isWhole { list.append(root.path.bytes + [0]) }
        try scanner.scan(opened.map { TreeRoot($0.path, context: CoverContext.root($0)) }) { _ in
            CoverVisitor(list)
        }
        var patterns = exclusions.filter(\.isDirectory)
            .flatMap { ResticPattern.patterns(for: $0) }
        for path in opened.flatMap({ $0.emptied() }) {
            list.append(path.bytes + [0])
            patterns.append(ResticPattern(contentsOf: path))
        }
        return ResticSelection(targets: .list(list.bytes), patterns: patterns)
    }
}

/// The list, shared by the threads that add to it.
private final class CoverList: Sendable {
    private let storage: Monitor<[UInt8]> = Monitor([])

    var bytes: [UInt8] { storage.withLock { $0 } }

    func append(_ paths: [UInt8]) { storage.withLock { $0 += paths } }
}

private enum CoverContext: Sendable {
    case root(CoverNode)
    case inside(CoverNode)
}

private struct CoverVisitor: TreeVisitor {
    private let list: CoverList
    private var paths: [UInt8] = []

    init(_ list: CoverList) {
        self.list = list
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in context: CoverContext
    ) -> Descent<CoverContext> {
        switch context {
        case .root(let node):
            return .descend(.inside(node))
        case .inside(let node):
            switch node.entry(named: entry.nameBytes) {
            case .excludedFile: return .skip
            case .opened(let below) where entry.kind == .directory:
                node.noteListed()
                return .descend(.inside(below))
            case nil where entry.kind == .socket: return .skip
            case .excludedContents, .opened, nil:
                node.noteListed()
                append(entry)
                return .skip
            }
        }
    }

    /// Lists a directory that cannot be read as a whole, so that restic reports it.
    mutating func cannotRead(_ error: FileError) {
        guard let path = error.path else { return }
        paths += path.bytes + [0]
    }

    mutating func finish() { list.append(paths) }

    private mutating func append(_ entry: borrowing TreeEntry) {
        entry.appendPath(to: &paths)
        paths.append(0)
    }
}

/// A source, or a directory that has an exclusion somewhere below it.
private final class CoverNode: Sendable {
    /// The treatment of an entry that is not simply listed.
    enum Entry: Sendable {
        /// Excluded.
        case excludedFile
        /// Listed, with a pattern that excludes its contents.
        case excludedContents
        /// Not listed itself; the items in it are.
        case opened(CoverNode)
    }

    let path: FilePath
    private let entries: Monitor<[[UInt8]: Entry]> = Monitor([:])
    private let holdsListed = Atomic(false)

    init(path: FilePath) {
        self.path = path
    }

    /// Returns the treatment of an entry; nil when it is listed as it is.
    func entry(named name: [UInt8]) -> Entry? {
        entries.withLock { $0[name] }
    }

    /// Whether nothing in it is excluded; only a source can be whole.
    var isWhole: Bool { entries.withLock { $0.isEmpty } }

    /// Records that something in the directory is listed, so that the directory exists in the
    /// snapshot.
    func noteListed() { holdsListed.store(true, ordering: .relaxed) }

    /// Adds the nodes on the way to an excluded item, and its entry.
    func insert(_ names: ArraySlice<FilePath.Component>, _ item: ExcludedItem) {
        guard let name = names.first else { return }
        let bytes = FilePath(root: nil, [name]).bytes
        if names.count == 1 {
            let entry: Entry = item.isDirectory ? .excludedContents : .excludedFile
            entries.withLock { $0[bytes] = entry }
            return
        }
        let next = entries.withLock { entries -> CoverNode in
            if case .opened(let node)? = entries[bytes] { return node }
            let node = CoverNode(path: path.appending(name))
            entries[bytes] = .opened(node)
            return node
        }
        next.insert(names.dropFirst(), item)
    }

    /// Returns the directories, from here down, that would vanish because nothing in them is
    /// listed.
    func emptied() -> [FilePath] {
        let below = entries.withLock { $0.values.map { $0 } }.flatMap { entry -> [FilePath] in
            guard case .opened(let node) = entry else { return [] }
            return node.emptied()
        }
        return holdsListed.load(ordering: .relaxed) ? below : below + [path]
    }
}
