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
