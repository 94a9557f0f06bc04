import SystemCalls
import SystemPackage

/// A unit's name in its parent directory, which was reached from `/` by descriptor.
struct UnitPlace: Sendable {
    /// The unit's name.
    let name: [UInt8]
    /// The path of the parent directory.
    let parentPath: [UInt8]
    /// The parent directory, opened with `O_PATH`.
    let parent: OpenDirectory
    /// The status of the parent directory.
    let parentStatus: FileStatus

    var directory: FileDescriptor { parent.descriptor }

    /// Returns the current status of a name in the directory; nil when there is no such entry.
    func status(of name: [UInt8]) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try parent.location(of: FilePath(bytes: name)).statusAtHand()
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }
}
