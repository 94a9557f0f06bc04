import SystemCalls

/// The items that a walk found to be stored, as hashes: 24 bytes for each item, whatever the length
/// of its path.
public struct PlanManifest: Sendable {
    /// The items, sorted by the hashes of their paths.
    package private(set) var entries: [Entry] = []
    /// The paths that are not UTF-8, which restic prints with lost bytes, sorted by the hashes of what it prints.
    package private(set) var inexact: [(printed: UInt64, path: UInt64)] = []

    /// An item, as far as two walks compare it.
    package struct Entry: Sendable {
        package let path: UInt64
        /// The hash of device, inode and creation time, so that an inode number that is used again
        /// differs.
        package let identity: UInt32
        /// Of a regular file the hash of its size and times; of any other item that of device and
        /// inode.
        package let state: UInt32
        package let device: UInt32
        package let source: UInt16
        package let kind: FileKind
        /// Whether it is encrypted by its directory's key.
        package let isEncrypted: Bool

        package init(
            path: [UInt8], identity: UInt32, state: UInt32, device: UInt32 = 0, source: UInt16 = 0,
            kind: FileKind, isEncrypted: Bool = false
        ) {
            self.path = PlanManifest.hash(path)
            self.identity = identity
            self.state = state
            self.device = device
            self.source = source
            self.kind = kind
            self.isEncrypted = isEncrypted
        }

        package init(_ path: [UInt8], _ status: FileStatus, source: UInt16 = 0) {
            let identity = status.identity
            self.init(
                path: path, identity: shortHash(identity, status.creationTime),
                state: status.kind == .regularFile
                    ? shortHash(
                        status.size, status.contentModificationTime,
                        status.attributeModificationTime)
                    : shortHash(identity),
                device: shortHash(identity.device), source: source, kind: status.kind,
                isEncrypted: status.isEncrypted)
        }

        /// Whether restic names an item of this kind when it has stored it.
        package var isNamed: Bool { kind == .regularFile || kind == .directory }
    }

    package init() {}

    /// The number of items.
    public var count: Int { entries.count }

    /// Whether it takes 1 MiB. A thread that goes on adding to it would need twice its size.
    var isLarge: Bool { entries.count >= 1 << 16 }

    package mutating func append(_ path: [UInt8], _ entry: Entry) {
        entries.append(entry)
        let printed = printedName(path)
        if printed.contains(JSONScanner.lostByte) {
            inexact.append((Self.hash(printed), entry.path))
        }
    }

    mutating func append(contentsOf other: PlanManifest) {
        entries += other.entries
        inexact += other.inexact
    }

    package mutating func finish() {
        entries.sort { $0.path < $1.path }
        inexact.sort { $0.printed < $1.printed }
    }

    package func without(_ paths: Set<[UInt8]>) -> PlanManifest {
        var rest = self
        guard !paths.isEmpty else { return rest }
        let hashes = Set(paths.map(Self.hash))
        rest.entries.removeAll { hashes.contains($0.path) }
        rest.inexact.removeAll { hashes.contains($0.path) }
        return rest
    }

    /// Returns the index of the item with a path's hash; nil if it is not in the manifest.
    package func index(of path: UInt64) -> Int? {
        let index = entries.firstIndex(from: path) { $0.path }
        return index < entries.count && entries[index].path == path ? index : nil
    }

    /// Returns the indices in ``inexact`` of the paths that print alike.
    package func inexactIndices(printed: UInt64) -> Range<Int> {
        let start = inexact.firstIndex(from: printed) { $0.printed }
        let end = inexact[start...].firstIndex { $0.printed != printed } ?? inexact.count
        return start..<end
    }

    /// Returns a path's hash, which is another in every process, so that no user can choose names
    /// that collide.
    package static func hash(_ path: [UInt8]) -> UInt64 {
        var hasher = Hasher()
        path.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

private func shortHash<each Part: Hashable>(_ part: repeat each Part) -> UInt32 {
    var hasher = Hasher()
    repeat hasher.combine(each part)
    return UInt32(truncatingIfNeeded: hasher.finalize())
}

extension Array {
    /// Returns the index of the first element of a sorted array that is not below a value.
    fileprivate func firstIndex(from value: UInt64, _ key: (Element) -> UInt64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if key(self[middle]) < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
