import ResourceValues
import SystemCalls
import SystemPackage

/// Opens directories below a restore's target by descriptors, and creates those that are missing. A
/// symbolic link on the way is never followed.
///
/// The directories above the current one stay open; each is finished when the chain leaves it.
final class DirectoryChain {
    private var directories: [RestoredDirectory]
    private let finish: (RestoredDirectory) -> Void

    /// Creates a chain.
    ///
    /// - Parameters:
    ///   - target: the directory at the top, open for reading; the chain closes it.
    ///   - finish: called once for each directory that the chain leaves.
    init(_ target: FileDescriptor, finish: @escaping (RestoredDirectory) -> Void) {
        directories = [RestoredDirectory(name: [], target)]
        self.finish = finish
    }

    /// Opens a directory, and creates it and its ancestors where they are missing.
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
            last = RestoredDirectory(name: name, try open(FilePath(bytes: name), in: last))
            directories.append(last)
        }
        return last
    }

    /// Finishes all directories that are open.
    func leaveAll() { leave(keeping: 1) }

    private func open(
        _ name: FilePath, in parent: RestoredDirectory
    ) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            // Accessible to no other user until its own permissions are set.
            try makeDirectory(name, in: parent.descriptor, permissions: 0o700)
        } catch .fileExists {
            // A directory, or something else, which makes opening it fail.
        }
        // Filesystems mounted below the target are restored into.
        return try openBeneath(
            name, in: parent.descriptor, flags: [.readOnly, .directory], crossingMounts: true)
    }

    private func leave(keeping count: Int) {
        while directories.count > count { finish(directories.removeLast()) }
    }
}
