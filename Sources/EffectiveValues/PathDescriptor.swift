import CLinux
import SystemCalls
import SystemPackage

/// A file that is open to be looked up from and asked for its status, closed with the value's life.
///
/// Opening with `O_PATH` needs permission to search the directories above, and none on the file.
struct PathDescriptor: ~Copyable {
    let descriptor: FileDescriptor

    /// Takes over a descriptor that was only opened for reading, or with `O_PATH`.
    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    /// Opens `/`, or the working directory.
    init(_ path: FilePath) throws(Errno) {
        descriptor = try openFile(
            in: FileDescriptor(rawValue: AT_FDCWD), path, flags: O_PATH | O_DIRECTORY)
    }

    /// Opens an entry, or a symbolic link itself.
    init(in directory: borrowing PathDescriptor, _ name: FilePath) throws(Errno) {
        descriptor = try openFile(
            in: directory.descriptor, name, flags: O_PATH | O_NOFOLLOW)
    }

    deinit {
        // There is nothing to write back, so a failure to close loses nothing.
        closeQuietly(descriptor)
    }

    /// Where a symbolic link leads; nil when the file is none.
    func symbolicLinkTarget() throws(Errno) -> FilePath? {
        do throws(Errno) {
            return try SystemCalls.symbolicLinkTarget(descriptor)
        } catch .noSuchFileOrDirectory, .invalidArgument {
            // What readlinkat(2) with an empty path answers for other kinds of files.
            return nil
        }
    }
}
