import SystemCalls
import SystemPackage

/// The items that a walk found to be stored, as hashes: 24 bytes for each item, whatever the length
/// of its path.
public struct PlanManifest: Sendable {
    /// The items, sorted by the hashes of their paths.
    package private(set) var entries: [Entry] = []
    /// The paths that are not UTF-8, which restic prints with lost bytes, sorted by the hashes of what it prints.
    package private(set) var inexact: [(printed: UInt64, path: UInt64)] = []
    /// The directories that were read, each with its modification time before that; empty once items
    /// moved into them were searched for.
    private var directories: [(path: FilePath, modified: FileTime)] = []

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

    /// Whether it has a path.
    public func contains(_ path: [UInt8]) -> Bool { index(of: Self.hash(path)) != nil }

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
        directories += other.directories
    }

    mutating func append(directory: FilePath, modified: FileTime) {
        directories.append((directory, modified))
    }

    package mutating func finish() {
        entries.sort { $0.path < $1.path }
        inexact.sort { $0.printed < $1.printed }
    }

    /// Returns the items that existed before the walk and are not stored, but are now in a directory
    /// that was read, and forgets the directories. Unless the walk excluded or reported such an item,
    /// it was moved there when the directory had already been read.
    ///
    /// Makes one system call for each directory, and reads those again that have changed since.
    ///
    /// - Parameter start: when the walk began, by the clock of filesystems.
    mutating func takeItemsMovedIn(since start: FileTime) -> [FilePath] {
        let changed = directories.filter { mayHaveChanged($0, since: start) }
        directories = []
        return changed.lazy.flatMap { directory in
            readableNames(in: directory.path.withoutFollowing)
                .map { directory.path.pushing(FilePath(bytes: $0)) }
        }.filter { !contains($0.bytes) && wasThere($0, before: start) }
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

/// Whether a directory's entries may have changed since it was read. Some filesystems store times in
/// steps of up to two seconds, within which a second change does not show.
private func mayHaveChanged(
    _ directory: (path: FilePath, modified: FileTime), since start: FileTime
) -> Bool {
    if directory.modified.seconds >= start.seconds.subtractingSaturating(2) { return true }
    do throws(Errno) {
        let status = try directory.path.withoutFollowing.statusAtHand()
        return status.contentModificationTime != directory.modified
    } catch {
        // Removed: what was planned in it will be missing by path.
        return false
    }
}

private func wasThere(_ item: FilePath, before start: FileTime) -> Bool {
    do throws(Errno) {
        let status = try item.withoutFollowing.statusAtHand()
        // Where no creation time is stored, a new file may be mistaken for a moved one.
        return (status.creationTime ?? status.contentModificationTime) < start
    } catch {
        return false
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
