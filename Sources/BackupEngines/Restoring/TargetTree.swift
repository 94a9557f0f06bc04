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
        chain = Monitor(DirectoryChain(try OpenDirectory(at: target)))
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
            Result { () throws(Errno) in try chain.enter(names.dropLast()) }
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
/// symbolic link. They stay open for the next item, since items come depth first.
private struct DirectoryChain: Sendable {
    private var directories: [(name: [UInt8], directory: OpenDirectory)]

    init(_ target: OpenDirectory) { directories = [([], target)] }

    /// Opens a directory and those above it.
    ///
    /// - Parameter names: the names from the target down.
    /// - Throws: the errno of a call: `ENOTDIR` or `ELOOP` when something else has the name.
    mutating func enter(_ names: ArraySlice<[UInt8]>) throws(Errno) -> OpenDirectory {
        var shared = 1
        for name in names.prefix(directories.count - 1) {
            guard directories[shared].name == name else { break }
            shared += 1
        }
        directories.removeLast(directories.count - shared)
        var last = directories[shared - 1].directory
        for name in names.dropFirst(shared - 1) {
            last = try last.openBeneath(
                FilePath(bytes: name), flags: .reference, crossingMounts: true)
            directories.append((name, last))
        }
        return last
    }
}
