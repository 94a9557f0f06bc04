import ResourceValues
import SystemCalls
import SystemPackage

/// Leads to directories below a restore's target by descriptors, and makes those that are missing:
/// a symbolic link on the way is never followed, whoever put it there.
///
/// The directories on the way to the last one stay open; each is finished when the way leaves it.
final class DirectoryChain {
    private var directories: [RestoredDirectory]
    private let finish: (RestoredDirectory) -> Void

    /// - Parameters:
    ///   - target: the directory at the top, open for reading; then the chain's to close.
    ///   - finish: called once for each directory the way leaves.
    init(_ target: FileDescriptor, finish: @escaping (RestoredDirectory) -> Void) {
        directories = [RestoredDirectory(name: [], target)]
        self.finish = finish
    }

    /// Opens a directory, and makes it and those above it where they are missing.
    ///
    /// - Parameter names: from the target down.
    /// - Throws: the errno of a call: `ENOTDIR` or `ELOOP` where something else has the name.
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
            // For nobody else until its own permissions are set.
            try makeDirectory(name, in: parent.descriptor, permissions: 0o700)
        } catch .fileExists {
            // It was there, or something else is, which opening finds out.
        }
        // A filesystem that is mounted below the target is restored into.
        return try openBeneath(
            name, in: parent.descriptor, flags: [.readOnly, .directory], crossingMounts: true)
    }

    private func leave(keeping count: Int) {
        while directories.count > count { finish(directories.removeLast()) }
    }
}
