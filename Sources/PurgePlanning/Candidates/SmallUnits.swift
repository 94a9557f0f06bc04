import SystemCalls

/// Small units of caches and temporary files: they go only where those of one directory are worth
/// deleting together. A single small file is often the only copy of something, such as notes, a
/// session or credentials, and deleting it frees next to nothing.
final class SmallUnits: Sendable {
    /// Units below this size, in bytes, are deleted after all larger ones of their class.
    static let limit: Int64 = 1 << 20

    private struct Directory {
        var bytes: Int64 = 0
        /// The units that wait for others.
        var waiting: [PurgeUnit] = []
    }

    /// The size in bytes below which a unit is small.
    private let smallest: Int64
    private let directories = Monitor<[[UInt8]: Directory]>([:])

    init(below smallest: Int64) { self.smallest = smallest }

    /// Whether a unit of that size and class has to wait for others.
    func concern(_ bytes: Int64, _ purgeClass: PurgeClass) -> Bool {
        bytes < smallest && purgeClass != .marked
    }

    /// Adds a unit.
    ///
    /// - Returns: the units of its directory that may go now that it was added.
    func add(_ unit: PurgeUnit) -> [PurgeUnit] {
        let slash = unit.path.lastIndex(of: UInt8(ascii: "/")) ?? unit.path.startIndex
        let parent = Array(unit.path[..<slash])
        return directories.withLock { directories in
            directories[parent, default: Directory()].bytes.addSaturating(unit.bytes)
            directories[parent, default: Directory()].waiting.append(unit)
            guard let directory = directories[parent], directory.bytes >= Self.limit else {
                return []
            }
            directories[parent]?.waiting = []
            return directory.waiting
        }
    }

    /// Calls `body` with the path of each unit that is kept in the end.
    func forEachKept(_ body: ([UInt8]) -> Void) {
        for directory in directories.withLock({ $0 }).values {
            for unit in directory.waiting { body(unit.path) }
        }
    }
}

extension FoundUnits {
    /// Returns the outcome without the units that a target does not need: the smallest are dropped
    /// first, as long as the others suffice.
    ///
    /// - Parameters:
    ///   - bytes: how many bytes the units free, if there are enough of them.
    ///   - inodes: how many items they remove, if there are enough.
    package func trimmed(toFree bytes: Int64, inodes: Int64 = 0) -> FoundUnits {
        var spareBytes = units.reduce(0 as Int128) { $0 + Int128($1.bytes) } - Int128(bytes)
        var spareItems = units.reduce(0 as Int128) { $0 + Int128($1.itemCount) } - Int128(inodes)
        guard spareBytes > 0, spareItems >= 0 else { return self }
        var dropped: Set<Int> = []
        for index in units.indices.sorted(by: { units[$0].bytes < units[$1].bytes }) {
            let (size, items) = (Int128(units[index].bytes), Int128(units[index].itemCount))
            // The next ones are at least as large.
            guard size <= spareBytes else { break }
            guard items <= spareItems else { continue }
            spareBytes -= size
            spareItems -= items
            dropped.insert(index)
        }
        guard !dropped.isEmpty else { return self }
        return FoundUnits(
            units: units.indices.filter { !dropped.contains($0) }.map { units[$0] },
            totals: totals, isTruncated: true)
    }
}
