import SystemCalls
import SystemPackage

/// Locates the items below a restore's target by descriptors, so that no symbolic link put there in
/// the meantime is followed.
///
/// The directories above the last item stay open: a snapshot's entries come depth first.
final class TargetTree {
    private let root: OwnedDescriptor
    private var names: [[UInt8]] = []
    private var directories: [SharedDescriptor] = []

    /// Opens the root.
    ///
    /// - Parameter target: the directory that contains the restored tree.
    init(_ target: FilePath) throws(Errno) {
        root = OwnedDescriptor(try openFile(target, flags: [.reference, .directory]))
    }

    /// Returns the location of an item of the snapshot.
    ///
    /// - Parameter path: the absolute path in the snapshot, not `/` itself.
    /// - Throws: the errno of opening a directory above it; `EINVAL` for a path that could lead
    ///   outside.
    func location(of path: [UInt8]) throws(Errno) -> DirectoryEntryLocation {
        guard let names = RelativePath(absolute: path)?.names, let name = names.last else {
            throw .invalidArgument
        }
        let parents = names.dropLast()
        var shared = 0
        while shared < parents.count, shared < self.names.count,
            parents[shared] == self.names[shared]
        {
            shared += 1
        }
        self.names.removeLast(self.names.count - shared)
        directories.removeLast(directories.count - shared)
        for name in parents[shared...] {
            directories.append(
                SharedDescriptor(
                    try openBeneath(
                        FilePath(bytes: name), in: last, flags: [.reference, .directory],
                        crossingMounts: true)))
            self.names.append(name)
        }
        return DirectoryEntryLocation(directory: last, name: FilePath(bytes: name))
    }

    private var last: FileDescriptor { directories.last?.descriptor ?? root.descriptor }
}
