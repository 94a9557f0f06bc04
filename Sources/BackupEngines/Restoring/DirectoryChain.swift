import SystemCalls
import SystemPackage

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
