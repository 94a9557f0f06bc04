import CommandSupport
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// Finds the items of a btrfs subvolume that have marks by a search of its tree, which needs a few
/// calls for each of them and none for all other items.
///
/// The tree only tells where to look: every item is reached by its names, must be the inode that was
/// found, and its marks are read as in a walk. Nothing is printed before all are found, so that
/// after any error a walk can take over.
struct SubvolumeFinder {
    typealias Found = (items: [FoundItem], count: Int)
    private let root: OpenDirectory
    /// The path of the root with a trailing slash.
    private let prefix: [UInt8]
    private let device: UInt64
    private let tree: SubvolumeTree
    /// The directory of the item that was found last, with its path.
    private var nearest: (inode: UInt64, directory: OpenDirectory, path: [UInt8])

    /// Returns the items of a subvolume that have marks, and the number of all its items.
    ///
    /// - Parameters:
    ///   - root: the subvolume's root directory; a symbolic link is followed.
    ///   - threads: the most threads that search the tree.
    /// - Returns: nil where a walk is needed or faster: for any other directory, without the
    ///   necessary capability, if another subvolume or a mount is below the directory, after an
    ///   error or a stop, and when many items have marks.
    static func items(below root: FilePath, threads: Int) -> Found? {
        guard var finder = try? SubvolumeFinder(root) else { return nil }
        return try? finder.find(root, threads)
    }

    private init?(_ path: FilePath) throws {
        root = try OpenDirectory(at: path, flags: [.readOnly, .nonBlocking])
        let status = try root.status()
        device = status.identity.device
        tree = SubvolumeTree(of: root.descriptor)
        guard status.identity.inode == SubvolumeTree.rootInode, let mount = status.mountNumber,
            try !tree.containsSubvolumes()
        else { return nil }
        let mounts = try MountTable.current().mounts
        guard mounts.contains(where: { $0.number == mount }),
            !mounts.contains(where: { $0.parent == mount })
        else { return nil }
        prefix = path.bytes + (path.bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
        nearest = (SubvolumeTree.rootInode, root, prefix)
    }

    private mutating func find(_ path: FilePath, _ threads: Int) throws -> Found? {
        let (inodes, count) = try tree.inodes(withAttribute: "user.resval.", threads: threads) {
            $0 > 65536 || StopRequest.isMade
        }
        // To look up an item takes as long as to walk to ten, and is done by one thread.
        guard inodes.count <= min(max(count / 32, 64), 65536) else { return nil }
        var items: [FoundItem] = []
        var room = 16 << 20
        for inode in inodes {
            if StopRequest.isMade { return nil }
            if inode == SubvolumeTree.rootInode {
                let marks = try root.marks()
                items.append(
                    FoundItem(path: path.bytes, kind: .directory, marks: marks, decision: nil))
                continue
            }
            let links = try tree.links(of: inode)
            let found = try links.compactMap { try item(inode, at: $0) }
            // A name that leads elsewhere is that of a removed file, unless there are new names.
            if found.count < links.count, try tree.links(of: inode) != links { return nil }
            room -= found.reduce(0) { $0 + $1.path.count }
            guard room >= 0 else { return nil }
            items += found
        }
        return (items, count)
    }

    /// Returns the item with a name of an inode; nil if the name does not lead to the inode.
    private mutating func item(_ inode: UInt64, at link: SubvolumeTree.Link) throws -> FoundItem? {
        if nearest.inode != link.directory {
            let path = try tree.path(of: link.directory)
            let directory = try root.openBeneath(
                FilePath(bytes: Array("./".utf8) + path), flags: .reference)
            let identity = FileIdentity(device: device, inode: link.directory)
            if try directory.status().identity != identity { throw Errno.staleNFSFileHandle }
            nearest = (link.directory, directory, prefix + path)
        }
        let location = nearest.directory.location(of: FilePath(bytes: link.name))
        guard let status = try location.statusIfPresent(),
            status.identity == FileIdentity(device: device, inode: inode)
        else { return nil }
        return FoundItem(
            path: nearest.path + link.name, kind: status.kind, marks: try location.marks(),
            decision: nil)
    }
}
