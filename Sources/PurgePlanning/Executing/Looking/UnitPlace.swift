import SystemCalls
import SystemPackage

/// A unit's name in the directory that holds it, which was reached from `/` by descriptor.
struct UnitPlace: Sendable {
    /// The unit's name.
    let name: [UInt8]
    /// The path of the directory that holds it.
    let parentPath: [UInt8]
    /// The directory that holds it, open with `O_PATH`.
    let parent: SharedDescriptor
    /// The status of that directory.
    let parentStatus: FileStatus

    var directory: FileDescriptor { parent.descriptor }

    /// What has a name in the directory now; nil when nothing has.
    func status(of name: [UInt8]) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try DirectoryEntryLocation(directory: directory, name: FilePath(bytes: name))
                .statusAtHand()
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }
}
