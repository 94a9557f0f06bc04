import CLinux
import SystemPackage

/// Opens a directory by a path on which nothing is a symbolic link, only to lead calls to what is in
/// it: `openat2(2)` with `RESOLVE_NO_SYMLINKS` and `O_PATH`.
///
/// - Throws: `ELOOP` when anything on the way is a link by now.
package func openDirectoryReferenceWithoutLinks(
    _ path: FilePath
) throws(Errno) -> FileDescriptor {
    try path.withPointer { path throws(Errno) in
        let descriptor = try perform(.openat2) {
            linux_open_without_links(AT_FDCWD, path, UInt64(O_PATH | O_DIRECTORY | O_CLOEXEC))
        }
        return FileDescriptor(rawValue: CInt(descriptor))
    }
}

/// Opens a file in an open directory, or the symbolic link itself that has the name, only to lead other
/// calls to it.
package func openReference(
    _ name: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileDescriptor {
    try openFile(in: directory, name, flags: [.reference, .noFollow])
}

/// Opens a file that is open with `O_PATH` for reading and writing.
package func reopenForWriting(_ descriptor: FileDescriptor) throws(Errno) -> FileDescriptor {
    try reopenFile(descriptor, flags: [.readWrite, .nonBlocking, .noTerminal])
}

/// Opens what lies below an open directory, through no link: `openat2(2)` with `RESOLVE_BENEATH`,
/// `RESOLVE_NO_SYMLINKS`, `RESOLVE_NO_MAGICLINKS` and `RESOLVE_NO_XDEV`.
///
/// - Parameters:
///   - flags: `O_CLOEXEC` is added.
///   - crossesMounts: leaves out `RESOLVE_NO_XDEV`.
/// - Throws: `EXDEV` when another mount begins on the way and may not be crossed, or the path leads
///   up; `ELOOP` for a link on the way or at the end; `ENOSYS` before Linux 5.6.
package func openBeneath(
    _ path: FilePath, in directory: FileDescriptor, flags: FileDescriptor.OpenOptions,
    crossingMounts crossesMounts: Bool = false
) throws(Errno) -> FileDescriptor {
    try path.withPointer { path throws(Errno) in
        let descriptor = try perform(.openat2) {
            linux_open_beneath(
                directory.rawValue, path, UInt64(flags.union(.closeOnExec).rawValue), crossesMounts)
        }
        return FileDescriptor(rawValue: CInt(descriptor))
    }
}

/// Opens a path as a process with another root would, only to lead calls to it: `openat2(2)` with
/// `RESOLVE_IN_ROOT` and `O_PATH`.
///
/// - Parameter root: an open directory, which is `/` also for links on the way.
package func openReference(
    _ path: FilePath, inRoot root: FileDescriptor
) throws(Errno) -> FileDescriptor {
    try path.withPointer { path throws(Errno) in
        let descriptor = try perform(.openat2) {
            linux_open_in_root(root.rawValue, path, UInt64(O_PATH | O_CLOEXEC))
        }
        return FileDescriptor(rawValue: CInt(descriptor))
    }
}

/// As ``openBeneath(_:in:flags:)``; reading leaves the time of access alone where this process may
/// ask for that.
package func openBeneathUnnoticed(
    _ path: FilePath, in directory: FileDescriptor, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openBeneath(path, in: directory, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openBeneath(path, in: directory, flags: flags)
    }
}

// Opening so that reading does not count as use: with `O_NOATIME` where the kernel allows it, which
// is for the owner and whoever may act as one.

/// Opens a file in an open directory; reading it leaves its access time alone where that is allowed.
package func openFileUnnoticed(
    in directory: FileDescriptor, _ name: FilePath, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(in: directory, name, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openFile(in: directory, name, flags: flags)
    }
}

/// Opens what a location leads to; reading it leaves its access time alone where that is allowed.
package func openFileUnnoticed(
    _ location: borrowing some FileLocation & ~Copyable, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(location, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openFile(location, flags: flags)
    }
}
