import BackupPlanning
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The largest items of a plan: files that are stored, and files and directories that are excluded.
final class LargestItems: Sendable {
    /// One item with its size: for a directory, the sizes of the files below it.
    struct Item: Sendable {
        let path: [UInt8]
        let kind: FileKind
        let size: Int64
        let disposition: Disposition

        /// Whether it comes before another: the larger one, or at equal sizes by path.
        func precedes(_ other: Item) -> Bool {
            size == other.size ? path.lexicographicallyPrecedes(other.path) : size > other.size
        }
    }

    /// A list that keeps only the largest items.
    struct List: Sendable {
        private let limit: Int
        private var items: [Item] = []

        init(_ limit: Int) { self.limit = limit }

        /// The items, the largest first.
        var sorted: ArraySlice<Item> { items.sorted { $0.precedes($1) }.prefix(limit) }

        mutating func add(_ item: Item) {
            guard item.size > 0 else { return }
            items.append(item)
            // Sorting now and then costs less than a heap of this size.
            if items.count / 2 > max(limit, 64) { items = Array(sorted) }
        }

        mutating func add(_ others: List) { for item in others.items { add(item) } }
    }

    private let limit: Int
    private let wantsStoredItems: Bool
    private let lists: Monitor<(stored: List, excluded: List)>

    init(_ limit: Int, wantsStoredItems: Bool) {
        self.limit = limit
        self.wantsStoredItems = wantsStoredItems
        lists = Monitor((List(limit), List(limit)))
    }

    /// Forgets everything, before another plan is made.
    func forget() { lists.withLock { [limit] in $0 = (List(limit), List(limit)) } }

    /// Returns an observer for one thread of planning.
    func observer() -> Observer { Observer(self, limit, wantsStoredItems: wantsStoredItems) }

    /// Notes the items of a plan on one thread.
    struct Observer: PlanObserver {
        let wantsStoredItems: Bool
        private let owner: LargestItems
        private var (stored, excluded): (List, List)

        init(_ owner: LargestItems, _ limit: Int, wantsStoredItems: Bool) {
            self.owner = owner
            self.wantsStoredItems = wantsStoredItems
            (stored, excluded) = (List(limit), List(limit))
        }

        mutating func note(_ item: borrowing PlannedItem) {
            let found = Item(
                path: item.path, kind: item.kind, size: item.size, disposition: item.disposition)
            switch item.disposition {
            case .stored: if wantsStoredItems { stored.add(found) }
            case .excluded: excluded.add(found)
            }
        }

        func finish() {
            owner.lists.withLock { [stored, excluded] in
                $0.stored.add(stored)
                $0.excluded.add(excluded)
            }
        }
    }

    /// Adds the excluded directories with the sizes of what is below them. What cannot be read there
    /// is reported. Directories that are excluded because of what is mounted on them are not entered.
    func measure(_ plan: BackupPlan, _ planner: BackupPlanner) throws {
        let directories = plan.exclusions.filter { item in
            guard item.isDirectory, !planner.mounts.isRemote(item.path) else { return false }
            if case .mount = item.reason { return false }
            return true
        }
        let sizes = Monitor([Int64](repeating: 0, count: directories.count))
        let scanner = TreeScanner(
            threadCount: planner.threadCount, staysOnFilesystem: true, followsRoots: false,
            shouldStop: planner.shouldStop)
        let roots = directories.enumerated().map { TreeRoot($1.path, context: $0) }
        try scanner.scan(roots) { _ in SizeVisitor(sizes) }
        if planner.shouldStop() { throw CancellationError() }
        for (directory, size) in zip(directories, sizes.withLock { $0 }) {
            lists.withLock {
                $0.excluded.add(
                    Item(
                        path: directory.path.bytes, kind: .directory, size: size,
                        disposition: .excluded(directory.reason)))
            }
        }
    }

    /// Prints the items.
    func write(asJSON isJSON: Bool, to buffer: inout OutputBuffer) {
        let lists = lists.withLock { $0 }
        if isJSON {
            for item in lists.stored.sorted + lists.excluded.sorted {
                var line = JSONLine.output()
                line.add("type", "largest")
                line.add(path: item.path)
                line.add("kind", item.kind.name)
                line.add("size", item.size)
                line.add(item.disposition)
                line.end(in: &buffer)
            }
            return
        }
        if wantsStoredItems { write("largest stored", lists.stored, to: &buffer) }
        write("largest excluded", lists.excluded, to: &buffer)
    }

    private func write(_ title: String, _ list: List, to buffer: inout OutputBuffer) {
        let items = list.sorted
        buffer.append(text: items.isEmpty ? "\(title): none\n" : "\(title):\n")
        let width = items.map { sizeText($0.size).count }.max() ?? 0
        for item in items {
            let size = sizeText(item.size)
            buffer.append(text: "  \(String(repeating: " ", count: width - size.count))\(size)  ")
            buffer.append(name: item.path)
            if case .excluded(let reason) = item.disposition {
                buffer.append(text: ": \(reason.sentence)")
            }
            buffer.append("\n")
        }
    }
}

/// Adds up the sizes of the regular files below directories, which the context numbers.
private struct SizeVisitor: TreeVisitor {
    private let sizes: Monitor<[Int64]>
    private var sums: [Int: Int64] = [:]

    init(_ sizes: Monitor<[Int64]>) { self.sizes = sizes }

    mutating func visit(_ entry: borrowing TreeEntry, in number: Int) -> Descent<Int> {
        do throws(Errno) {
            let status = try entry.status()
            if status.kind == .regularFile {
                sums[number, default: 0].addSaturating(status.size)
            }
        } catch {
            // It was removed since its directory was read.
        }
        return .descend(number)
    }

    func cannotRead(_ error: FileError) {
        Messages.warn(about: error.path?.bytes, "is not counted: \(error.description)")
    }

    mutating func finish() {
        sizes.withLock { [sums] in
            for (number, size) in sums { $0[number].addSaturating(size) }
        }
    }
}
