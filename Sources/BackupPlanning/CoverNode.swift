import Synchronization
import SystemCalls
import SystemPackage

/// A source, or a directory that has an exclusion somewhere below it.
final class CoverNode: Sendable {
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
    func insert(_ names: ArraySlice<FilePath.Component>, _ item: LeftOutItem) {
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
