import CLinux
import SystemPackage

// Opening so that reading does not count as use: with `O_NOATIME` where the kernel allows it, which
// is for the owner and whoever may act as one.

/// Opens a file in an open directory; reading it leaves its access time alone where that is allowed.
package func openFileUnnoticed(
    in directory: FileDescriptor, _ name: FilePath, flags: CInt
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(in: directory, name, flags: flags | O_NOATIME)
    } catch .notPermitted {
        return try openFile(in: directory, name, flags: flags)
    }
}

/// Opens what a location leads to; reading it leaves its access time alone where that is allowed.
package func openFileUnnoticed(
    _ location: borrowing some FileLocation & ~Copyable, flags: CInt
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(location, flags: flags | O_NOATIME)
    } catch .notPermitted {
        return try openFile(location, flags: flags)
    }
}
