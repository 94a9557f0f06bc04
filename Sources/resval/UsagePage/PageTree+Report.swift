import ResourceValues
import StoragePolicy
import SystemCalls
import UsageReporting

extension PageTree {
    /// The most directories that a page has, so that it opens at once.
    static let directoryLimit = 100_000

    /// Creates the tree of a report. Beyond the limit, each of the smallest directories counts in the
    /// one above it.
    init(_ report: UsageReport) {
        hasSumOfRoots = report.roots.count != 1
        directories = []
        var size = ShownSize(report, limit: Self.directoryLimit)
        let first = hasSumOfRoots ? report.total : report.roots[0]
        var open = [(directory: first, depth: 0)]
        while let (directory, depth) = open.popLast() {
            let children = directory.children.filter { size.admits($0) }
            directories.append(Directory(directory, depth: depth, without: children))
            open += children.map { ($0, depth + 1) }
        }
    }
}

/// The size from which directories are shown. No directory is larger than the one it is in, so what is
/// shown is a tree.
private struct ShownSize {
    /// Larger ones are shown.
    private var limit: Int64 = -1
    /// How many are shown of those with exactly this size.
    private var remaining = 0

    init(_ report: UsageReport, limit: Int) {
        guard report.directoryCount > limit else { return }
        var sizes: [Int64] = []
        var open = report.roots
        while let directory = open.popLast() {
            sizes.append(directory.allocated)
            open += directory.children
        }
        sizes.sort(by: >)
        self.limit = sizes[limit]
        remaining = limit - (sizes.firstIndex(of: self.limit) ?? 0)
    }

    mutating func admits(_ directory: UsageDirectory) -> Bool {
        if directory.allocated == limit, remaining > 0 {
            remaining -= 1
            return true
        }
        return directory.allocated > limit
    }
}

extension PageTree.Directory {
    /// Creates a directory of a report, with the sizes of all but some of the directories in it.
    fileprivate init(
        _ directory: UsageDirectory, depth: Int, without children: [UsageDirectory]
    ) {
        func own(_ size: (UsageDirectory) -> Int64) -> Int64 {
            children.reduce(size(directory)) { $0.subtractingSaturating(size($1)) }
        }
        let reasons = PageTree.State(directory.entryClass)
        let excluded = own { $0.allocated(.excluded) }
        let purgeable = own { $0.allocated(.purgeable) }
        let both = own { $0.excluded } - excluded
        // Where the directory's own reason is another, items have marks of their own.
        let exclusion = reasons.excluded ?? "marks of single items"
        let purging = reasons.purgeable ?? "marks of single items"
        let protection = reasons.protection ?? "marks of single items"
        let sizes: [(PageTree.State, Int64)] = [
            (PageTree.State(), own { $0.allocated(.backedUp) }),
            (PageTree.State(protection: protection), own { $0.allocated(.protected) }),
            (PageTree.State(excluded: exclusion), excluded),
            (PageTree.State(excluded: exclusion, purgeable: purging), both),
            (PageTree.State(purgeable: purging), purgeable - both),
        ]
        self.init(
            name: directory.name, depth: depth, isExcluded: reasons.excluded != nil,
            remark: directory.isForeignMount ? .foreignMount : directory.wasRead ? nil : .unread,
            allocated: Dictionary(uniqueKeysWithValues: sizes.filter { $0.1 > 0 }),
            apparent: own(\.apparent), notFreed: own { $0.allocated - $0.freed },
            sharedBelow: directory.sharedBelow)
    }
}

extension PageTree.State {
    /// Creates the reasons that a class gives; none for nil.
    fileprivate init(_ value: UsageClass?) {
        if let exclusion = value?.exclusion {
            let detail = exclusion.detail ?? ""
            excluded =
                Marker(rawValue: detail)?.meaning ?? StorageLocation.Kind(rawValue: detail)?.meaning
                ?? exclusion.name
        }
        if case .purgeable = value?.purging { purgeable = value?.purging.name }
        if let value, value.protection ?? .none != .none { protection = value.protectionWords }
    }
}
