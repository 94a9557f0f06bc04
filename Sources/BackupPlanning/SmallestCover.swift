import EffectiveValues
import FileTree
import Synchronization
import SystemPackage

/// The shortest list of paths that covers everything but the exclusions: one path for a directory
/// without any exclusion below it, single items only next to excluded ones.
struct SmallestCover {
    /// The treatment of an item that is not simply listed.
    fileprivate enum Treatment: Sendable {
        case excluded
        /// Listed, with a pattern that excludes its contents.
        case emptied
        /// A source or directory with an exclusion below it: the items in it are listed.
        case opened
    }

    /// The most directories that are stored empty, those nearest to the root. Each needs a pattern, with which
    /// restic compares each item, and any user can make very many.
    static let mostEmpty = 1000

    private let sources: [FilePath]
    private let emptied: [ExcludedItem]
    private var treatments: [[UInt8]: Treatment] = [:]

    /// - Parameter exclusions: items below the sources.
    init(sources: [FilePath], exclusions: [ExcludedItem]) {
        self.sources = sources
        emptied = exclusions.filter(\.isEmptied)
        for item in exclusions {
            guard let source = sources.first(where: { item.path.starts(with: $0) }) else {
                continue
            }
            treatments[item.path.bytes] = item.isEmptied ? .emptied : .excluded
            var directory = item.path
            while directory != source {
                directory.removeLastComponent()
                guard treatments[directory.bytes] == nil else { break }
                treatments[directory.bytes] = .opened
            }
        }
    }

    /// Walks the directories that have exclusions below them and lists the rest.
    func selection() throws -> ResticSelection {
        let found = Monitor(CoverPart())
        let opened = sources.filter { treatments[$0.bytes] != nil }
        try TreeScanner(followsRoots: false).scan(opened.map { TreeRoot($0, context: nil) }) { _ in
            CoverVisitor(treatments: treatments, whole: found)
        }
        var cover = found.withLock { $0 }
        for source in sources where treatments[source.bytes] == nil { cover.append(source.bytes) }
        let empty = cover.empty.map { (sources.contains($0) ? 0 : $0.components.count, $0) }
            .sorted { $0.0 == $1.0 ? $0.1.precedes($1.1) : $0.0 < $1.0 }.map(\.1)
        let (kept, dropped) = (empty.prefix(Self.mostEmpty), Set(empty.dropFirst(Self.mostEmpty)))
        for path in kept { cover.append(path.bytes) }
        for item in emptied where dropped.contains(item.path) {
            let tag = item.reason.keptFile.map { item.path.pushing($0.name).bytes }
            if let tag, treatments[tag] == nil { cover.append(tag) }
        }
        let patterns =
            emptied.filter { !dropped.contains($0.path) }
            .flatMap { ResticPattern.patterns(for: $0) }
            + kept.filter { treatments[$0.bytes] == .opened }.map { ResticPattern(contentsOf: $0) }
        return ResticSelection(
            list: cover.paths, patterns: patterns,
            unlisted: dropped.isEmpty ? [] : directories(without: cover))
    }

    /// Returns the directories with an exclusion that lead to nothing that is listed.
    private func directories(without cover: CoverPart) -> Set<[UInt8]> {
        var rest = Set(treatments.filter { $0.value != .excluded }.keys)
        for listed in cover.paths.split(separator: 0) {
            var path = FilePath(bytes: Array(listed))
            rest.remove(path.bytes)
            while path.removeLastComponent(), rest.remove(path.bytes) != nil {}
        }
        return rest
    }
}

private struct CoverPart: Sendable {
    /// What is listed as a whole.
    var paths: [UInt8] = []
    /// The directories to list without their contents.
    var empty: [FilePath] = []

    mutating func append(_ path: [UInt8]) { paths += path + [0] }
}

/// A directory whose items are listed one by one.
private final class OpenedDirectory: Sendable {
    let path: FilePath
    /// Whether an item in it is listed, so that the directory exists in the snapshot.
    let holdsListed = Atomic(false)

    init(path: FilePath) { self.path = path }
}

/// The context is the directory of the entry; nil at a source.
private struct CoverVisitor: TreeVisitor {
    let treatments: [[UInt8]: SmallestCover.Treatment]
    let whole: Monitor<CoverPart>
    var part = CoverPart()

    mutating func visit(
        _ entry: borrowing TreeEntry, in directory: OpenedDirectory?
    ) -> Descent<OpenedDirectory?> {
        let path = entry.path
        guard let directory else { return .descend(OpenedDirectory(path: path)) }
        switch treatments[path.bytes] {
        case .excluded: return .skip
        case nil where entry.kind == .socket: return .skip
        case .opened where entry.kind == .directory:
            directory.holdsListed.store(true, ordering: .relaxed)
            return .descend(OpenedDirectory(path: path))
        case .emptied:
            directory.holdsListed.store(true, ordering: .relaxed)
            part.empty.append(path)
            return .skip
        case .opened, nil:
            directory.holdsListed.store(true, ordering: .relaxed)
            part.append(path.bytes)
            return .skip
        }
    }

    /// Lists a directory that would vanish because nothing in it is listed.
    mutating func leave(_ directory: OpenedDirectory?) {
        guard let directory, !directory.holdsListed.load(ordering: .relaxed) else { return }
        part.empty.append(directory.path)
    }

    /// Lists a directory that cannot be read as a whole, so that restic reports it.
    mutating func cannotRead(_ error: FileError) {
        if let path = error.path { part.append(path.bytes) }
    }

    mutating func finish() {
        whole.withLock {
            $0.paths += part.paths
            $0.empty += part.empty
        }
    }
}
