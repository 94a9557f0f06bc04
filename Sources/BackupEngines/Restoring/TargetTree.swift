import SystemCalls
import SystemPackage

/// Locates the items below a restore's target by descriptors, so that no symbolic link put there in
/// the meantime is followed.
final class TargetTree: Sendable {
    private let chain: Monitor<DirectoryChain>

    /// Opens the root.
    ///
    /// - Parameter target: the directory that contains the restored tree.
    init(_ target: FilePath) throws(Errno) {
        chain = Monitor(
            DirectoryChain(try OpenDirectory(at: target)) { name, parent throws(Errno) in
                try parent.openBeneath(name, flags: .reference, crossingMounts: true)
            })
    }

    /// Returns the directory of an item of the snapshot and the item's name in it.
    ///
    /// - Parameter path: the absolute path in the snapshot, not `/` itself.
    /// - Throws: the errno of opening a directory above it; `EINVAL` for a path that could lead
    ///   outside.
    func entry(
        _ path: [UInt8]
    ) throws(Errno) -> (name: FilePath, directory: OpenDirectory) {
        guard let names = RelativePath(absolute: path)?.names[...], let name = names.last else {
            throw .invalidArgument
        }
        let directory = chain.withLock { chain in
            Result { () throws(Errno) in try chain.enter(names.dropLast()).directory }
        }
        return (FilePath(bytes: name), try directory.get())
    }

    /// Opens an item of the snapshot as a reference; see ``entry(_:)``.
    func openItem(_ path: [UInt8]) throws(Errno) -> OwnedDescriptor {
        let (name, directory) = try entry(path)
        return OwnedDescriptor(try openReference(name, in: directory.descriptor))
    }
}

/// The open directories on the way to an item below a restore's target, none of them behind a
/// symbolic link.
///
/// They stay open for the next item, since items come depth first. Each is finished when the chain
/// leaves it.
final class DirectoryChain {
    private var directories: [RestoredDirectory]
    private let open: (FilePath, OpenDirectory) throws(Errno) -> OpenDirectory
    private let finish: (RestoredDirectory) -> Void

    /// Creates a chain.
    ///
    /// - Parameters:
    ///   - target: the directory at the top.
    ///   - open: opens an entry that is a directory.
    ///   - finish: called once for each directory that the chain leaves.
    init(
        _ target: OpenDirectory,
        open: @escaping (FilePath, OpenDirectory) throws(Errno) -> OpenDirectory,
        finish: @escaping (RestoredDirectory) -> Void = { _ in }
    ) {
        directories = [RestoredDirectory(name: [], target)]
        self.open = open
        self.finish = finish
    }

    /// Opens a directory and those above it.
    ///
    /// - Parameter names: the names from the target down.
    /// - Throws: the errno of a call: `ENOTDIR` or `ELOOP` when something else has the name.
    func enter(_ names: ArraySlice<[UInt8]>) throws(Errno) -> RestoredDirectory {
        var shared = 1
        for name in names.prefix(directories.count - 1) {
            guard directories[shared].name == name else { break }
            shared += 1
        }
        leave(keeping: shared)
        var last = directories[shared - 1]
        for name in names.dropFirst(shared - 1) {
            last = RestoredDirectory(name: name, try open(FilePath(bytes: name), last.directory))
            directories.append(last)
        }
        return last
    }

    /// Finishes all directories that are open.
    func leaveAll() { leave(keeping: 1) }

    private func leave(keeping count: Int) {
        while directories.count > count { finish(directories.removeLast()) }
    }
}

/// A directory below a restore's target, open while items are restored in it.
final class RestoredDirectory {
    /// The name in its parent directory; empty for the target.
    let name: [UInt8]
    let directory: OpenDirectory
    /// The metadata to set once everything in it is restored; nil for a directory that is not a
    /// restored item.
    var pending: (item: ManifestItem, attributes: [ExtendedAttribute])?

    init(name: [UInt8], _ directory: OpenDirectory) {
        self.name = name
        self.directory = directory
    }
}
