import CLinux
import SystemPackage

/// The tree of a btrfs subvolume, which contains the names and attributes of all of its inodes in
/// the order of inode numbers. Reading it needs `CAP_SYS_ADMIN`.
///
/// Changes that are not committed yet are in it, except that the name of a file that was removed
/// may still be there. What is found has to be looked up by name.
package final class SubvolumeTree {
    /// A name of an inode, in the directory with another.
    package struct Link: Sendable, Hashable {
        package let directory: UInt64
        package let name: [UInt8]
    }

    /// The inode of the root directory of every subvolume (`BTRFS_FIRST_FREE_OBJECTID`).
    package static let rootInode: UInt64 = 256

    private typealias Key = (inode: UInt64, type: UInt32, offset: UInt64)
    private typealias Found = (inodes: Set<UInt64>, names: Int, error: Errno?)

    private let directory: FileDescriptor
    private let request = UnsafeMutableRawPointer.allocate(
        byteCount: requestSize + itemCapacity, alignment: 8)

    /// Creates the tree of the subvolume that contains a directory, which must stay open.
    package init(of directory: FileDescriptor) { self.directory = directory }

    deinit { request.deallocate() }

    /// Whether other subvolumes are entries of the subvolume: `BTRFS_IOC_GET_SUBVOL_ROOTREF`.
    ///
    /// - Throws: the call's errno, `ENOTTY` where the filesystem is not btrfs.
    package func containsSubvolumes() throws(Errno) -> Bool {
        try perform(.ioctl) { linux_has_subvolumes(directory.rawValue) } > 0
    }

    /// Returns the inodes with an attribute that has this prefix, ascending, and the number of all
    /// names: `BTRFS_IOC_TREE_SEARCH_V2` for each 128 KiB.
    ///
    /// - Parameters:
    ///   - threads: the most threads, each of which searches a part of the tree.
    ///   - isEnough: called with the number of inodes so far; true ends the search.
    /// - Throws: the call's errno; `EUCLEAN` for what is not in the kernel's format.
    package func inodes(
        withAttribute prefix: String, threads: Int, isEnough: @escaping @Sendable (Int) -> Bool
    ) throws(Errno) -> (inodes: [UInt64], names: Int) {
        let count = UInt64(min(threads, availableProcessorCount(), 4))
        let size = (try lastInode() - Self.rootInode) / count + 1
        let all = Monitor<Found>(([], 0, nil))
        let threads = (0..<count).map { [directory] number in
            startThread {
                let first = Self.rootInode + number * size
                SubvolumeTree(of: directory).find(prefix, first..<first + size, all, isEnough)
            }
        }
        for thread in threads { thread?.join() }
        guard !threads.contains(where: { $0 == nil }) else { throw .resourceTemporarilyUnavailable }
        // A file that was replaced meanwhile has a new inode.
        find(prefix, min(Self.rootInode + count * size, inodeEnd)..<inodeEnd, all, isEnough)
        let found = all.withLock { $0 }
        if let error = found.error { throw error }
        return (found.inodes.sorted(), found.names)
    }

    private func find(
        _ prefix: String, _ range: Range<UInt64>, _ all: Monitor<Found>, _ isEnough: (Int) -> Bool
    ) {
        var next: Key? = (range.lowerBound, 0, 0)
        do throws(Errno) {
            while let key = next, all.withLock({ $0.error == nil && !isEnough($0.inodes.count) }) {
                var part: (inodes: [UInt64], names: Int) = ([], 0)
                next = try search(from: key, to: (range.upperBound, 0, 0)) { key, name in
                    if key.type != attributeType {
                        part.names += 1
                    } else if name.starts(with: prefix.utf8) {
                        part.inodes.append(key.inode)
                    }
                }
                all.withLock {
                    $0.inodes.formUnion(part.inodes)
                    $0.names += part.names
                }
            }
        } catch {
            all.withLock { $0.error = error }
        }
    }

    /// Returns the highest inode number, with some 60 searches.
    private func lastInode() throws(Errno) -> UInt64 {
        var (low, high) = (Self.rootInode, inodeEnd)
        while low < high {
            let middle = high - (high - low) / 2
            let next = try search(from: (middle, 0, 0), to: (inodeEnd, 0, 0), limit: 1) { _, _ in }
            if next == nil { high = middle - 1 } else { low = middle }
        }
        return low
    }

    /// Returns the names of an inode, in the order of the tree; none if it was removed.
    ///
    /// - Throws: as ``inodes(withAttribute:threads:isEnough:)``; `EUCLEAN` also for a name that is not
    ///   valid, and `EMLINK` for more names than one item takes.
    package func links(of inode: UInt64) throws(Errno) -> [Link] {
        var links: [Link] = []
        var next: Key? = (inode, linkType, 0)
        while let start = next {
            next = try search(from: start, to: (inode, moreLinksType, .max)) {
                key, name throws(Errno) in
                let name = Array(name)
                if name.contains(where: { $0 == 0 || $0 == 0x2F }) { throw notClean }
                links.append(Link(directory: key.offset, name: name))
            }
        }
        return links
    }

    /// Returns the path from the root of the subvolume to a directory, with a slash at its end;
    /// empty for the root: `BTRFS_IOC_INO_LOOKUP`.
    ///
    /// - Throws: the call's errno: `ENOENT` if the directory was removed, `ENAMETOOLONG` for paths
    ///   of more than 4079 bytes.
    package func path(of inode: UInt64) throws(Errno) -> [UInt8] {
        let lookup = request.bindMemory(to: btrfs_ioctl_ino_lookup_args.self, capacity: 1)
        (lookup.pointee.treeid, lookup.pointee.objectid) = (0, inode)
        _ = try perform(.ioctl) { linux_path_in_subvolume(directory.rawValue, lookup) }
        return UnsafeRawBufferPointer(start: request + 16, count: 4080).prefix { $0 != 0 }
    }

    /// Calls `body` with each name of an inode and of an attribute in the next part of the tree.
    ///
    /// - Returns: the key behind the part; nil at the end.
    private func search(
        from first: Key, to last: Key, limit: UInt32 = .max,
        _ body: (Key, Slice<UnsafeRawBufferPointer>) throws(Errno) -> Void
    ) throws(Errno) -> Key? {
        let search = request.bindMemory(to: btrfs_ioctl_search_args_v2.self, capacity: 1)
        search.pointee.key = btrfs_ioctl_search_key(
            tree_id: 0, min_objectid: first.inode, max_objectid: last.inode,
            min_offset: first.offset, max_offset: last.offset, min_transid: 0, max_transid: .max,
            min_type: first.type, max_type: last.type, nr_items: limit, unused: 0, unused1: 0,
            unused2: 0, unused3: 0, unused4: 0)
        search.pointee.buf_size = UInt64(itemCapacity)
        _ = try perform(.ioctl) { linux_search_subvolume(directory.rawValue, search) }

        var rest = UnsafeRawBufferPointer(start: request + requestSize, count: itemCapacity)
        var found: Key?
        for _ in 0..<search.pointee.key.nr_items {
            // struct btrfs_ioctl_search_header
            let key = (
                inode: rest.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                type: rest.loadUnaligned(fromByteOffset: 24, as: UInt32.self),
                offset: rest.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            )
            let end = 32 + Int(rest.loadUnaligned(fromByteOffset: 28, as: UInt32.self))
            let item = UnsafeRawBufferPointer(rebasing: rest[32..<end])
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
            found = key
            if key.type == moreLinksType { throw .tooManyLinks }
            guard key.type == linkType || key.type == attributeType else { continue }
            try forEachName(in: item, key.type) { name throws(Errno) in try body(key, name) }
        }
        guard let found else { return nil }
        // Behind its attributes an inode has its content, which may be millions of items.
        guard found.type <= attributeType else { return (found.inode + 1, 0, 0) }
        return found.offset < .max
            ? (found.inode, found.type, found.offset + 1) : (found.inode, found.type + 1, 0)
    }
}

/// Calls `body` with the name in each `struct btrfs_inode_ref` or `struct btrfs_dir_item` of an
/// item: links from one directory, or attributes whose names have the same hash, share one.
private func forEachName(
    in item: UnsafeRawBufferPointer, _ type: UInt32,
    _ body: (Slice<UnsafeRawBufferPointer>) throws(Errno) -> Void
) throws(Errno) {
    let (header, nameLength) = type == linkType ? (10, 8) : (30, 27)
    var start = 0
    while start < item.count {
        guard item.count - start >= header else { throw notClean }
        func length(at offset: Int) -> Int {
            Int(item.loadUnaligned(fromByteOffset: start + offset, as: UInt16.self).littleEndian)
        }
        let name = start + header
        let end = name + length(at: nameLength)
        let next = end + (type == linkType ? 0 : length(at: 25))
        guard next <= item.count else { throw notClean }
        try body(item[name..<end])
        start = next
    }
}

// BTRFS_INODE_REF_KEY, with the directory's inode as offset; BTRFS_INODE_EXTREF_KEY, for what has no
// room there; BTRFS_XATTR_ITEM_KEY.
private let linkType: UInt32 = 12
private let moreLinksType: UInt32 = 13
private let attributeType: UInt32 = 24
private let requestSize = MemoryLayout<btrfs_ioctl_search_args_v2>.size
private let itemCapacity = 128 << 10  // The largest item is smaller than a node of 64 KiB.
private let inodeEnd = UInt64.max - 255  // Behind BTRFS_LAST_FREE_OBJECTID.
private let notClean = Errno(rawValue: EUCLEAN)
