/// Paths that stand for themselves and everything below them.
package struct PathSet: Sendable {
    /// The outermost paths. The slash sorts before any other byte, so that all paths below one
    /// would come directly after it, and one search finds the path that another is below.
    package let paths: [[UInt8]]

    /// Creates a set of absolute paths without a slash at the end. Those below others are dropped.
    package init(_ paths: some Sequence<[UInt8]> = []) {
        var outermost: [[UInt8]] = []
        for path in paths.sorted(by: Self.precedes) {
            if let last = outermost.last, Self.is(path, atOrBelow: last) { continue }
            outermost.append(path)
        }
        self.paths = outermost
    }

    /// Whether a path is in the set or below a path in it.
    package func contains(_ path: [UInt8]) -> Bool {
        var (low, high) = (0, paths.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(path, paths[middle]) { high = middle } else { low = middle + 1 }
        }
        return low > 0 && Self.is(path, atOrBelow: paths[low - 1])
    }

    static func precedes(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.lexicographicallyPrecedes(second) { rank($0) < rank($1) }
    }

    private static func rank(_ byte: UInt8) -> Int { byte == UInt8(ascii: "/") ? -1 : Int(byte) }

    private static func `is`(_ path: [UInt8], atOrBelow base: [UInt8]) -> Bool {
        path.starts(with: base)
            && (path.count == base.count || base == [UInt8(ascii: "/")]
                || path[base.count] == UInt8(ascii: "/"))
    }
}
