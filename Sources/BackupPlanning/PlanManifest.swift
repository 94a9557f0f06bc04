import ResourceValues

/// The items that a snapshot must contain, as hashes: 16 bytes for each item, whatever the length
/// of its path.
///
/// Each entry of a snapshot is checked off, in any order; the items that remain are missing.
public struct PlanManifest: Sendable {
    private var entries: [Entry] = []
    private var seen: [Bool] = []

    struct Entry: Sendable {
        let path: UInt64
        let state: UInt64
    }

    /// The result of checking an entry of a snapshot.
    public enum Check: Sendable, Hashable {
        /// As planned.
        case asPlanned
        /// Planned, but with another kind, size or modification time.
        case different
        /// Not planned.
        case unplanned
    }

    init() {}

    /// The number of items that the snapshot must contain.
    public var count: Int { entries.count }

    /// Whether it takes 1 MiB. A thread that goes on adding to it would need twice its size.
    var isLarge: Bool { entries.count >= 1 << 16 }

    /// Checks off an entry of the snapshot.
    ///
    /// - Parameters:
    ///   - path: the absolute path's bytes.
    ///   - size: the size in bytes; compared for regular files only.
    ///   - modified: when the content last changed; compared for regular files only, since a
    ///     directory's time changes with every entry.
    public mutating func check(
        _ path: some Collection<UInt8>, kind: FileKind, size: Int64, modified: FileTime
    ) -> Check {
        guard let index = index(of: hash(path)) else { return .unplanned }
        seen[index] = true
        let state = hash(kind, size: size, modified: modified)
        return entries[index].state == state ? .asPlanned : .different
    }

    /// The number of items for which no entry was checked off.
    public var missingCount: Int { seen.count { !$0 } }

    /// Whether a path was planned and no entry was checked off for it.
    public func isMissing(_ path: some Collection<UInt8>) -> Bool {
        index(of: hash(path)).map { !seen[$0] } ?? false
    }

    /// Whether a path was planned.
    func contains(_ path: some Collection<UInt8>) -> Bool { index(of: hash(path)) != nil }

    mutating func append(_ path: [UInt8], _ status: FileStatus) {
        entries.append(
            Entry(
                path: hash(path),
                state: hash(
                    status.kind, size: status.size, modified: status.contentModificationTime)))
    }

    mutating func append(contentsOf other: PlanManifest) {
        entries += other.entries
    }

    mutating func finish() {
        entries.sort { $0.path < $1.path }
        seen = Array(repeating: false, count: entries.count)
    }

    private func index(of path: UInt64) -> Int? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].path < path { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].path == path ? low : nil
    }

    // Seeded anew in every process, so that no user can choose names that collide.

    private func hash(_ path: some Collection<UInt8>) -> UInt64 {
        var hasher = Hasher()
        if path.withContiguousStorageIfAvailable({
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }) == nil {
            Array(path).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func hash(_ kind: FileKind, size: Int64, modified: FileTime) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(kind)
        if kind == .regularFile {
            hasher.combine(size)
            hasher.combine(modified)
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
