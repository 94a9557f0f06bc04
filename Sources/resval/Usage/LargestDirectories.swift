import UsageReporting

extension UsageReport {
    /// Returns the largest directories, each after the one that contains it, and the larger of two
    /// in the same directory first.
    ///
    /// - Parameters:
    ///   - count: the greatest number of them; roots count.
    ///   - depth: the greatest number of levels below a root; nil for any.
    func largestDirectories(_ count: Int, depth: Int?) -> [UsageDirectory] {
        var chosen: Set<UInt32> = []
        var waiting = Array(roots.sorted { $0.precedes($1) }.prefix(count))
        while chosen.count < count, !waiting.isEmpty {
            let directory = waiting.removeFirst()
            chosen.insert(directory.number)
            guard directory.depth < depth ?? .max else { continue }
            // No more than the first of them can be chosen.
            waiting += directory.children.sorted { $0.precedes($1) }.prefix(count)
            waiting = Array(waiting.sorted { $0.precedes($1) }.prefix(count))
        }
        var result: [UsageDirectory] = []
        forEachDirectory { directory in
            let isChosen = chosen.contains(directory.number)
            if isChosen { result.append(directory) }
            return isChosen
        }
        return result
    }

    /// Calls `body` with each directory, after the one that contains it and after all that is in a
    /// larger one of the same directory.
    ///
    /// - Parameter body: returns whether the directories in it are wanted.
    func forEachDirectory(_ body: (UsageDirectory) -> Bool) {
        var stack = Array(roots.sorted { $0.precedes($1) }.reversed())
        while let directory = stack.popLast() {
            guard body(directory) else { continue }
            stack += directory.children.sorted { $1.precedes($0) }
        }
    }
}

extension UsageDirectory {
    /// Whether it comes before another of the same directory: the larger one, or at equal sizes by
    /// name.
    func precedes(_ other: UsageDirectory) -> Bool {
        let (size, otherSize) = (allocated, other.allocated)
        return size == otherSize
            ? name.lexicographicallyPrecedes(other.name) : size > otherSize
    }
}
