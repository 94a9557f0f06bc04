import CLinux
import SystemPackage

/// Opens a directory as a reference for calls on its entries, by a path without symbolic links:
/// `openat2(2)` with `RESOLVE_NO_SYMLINKS` and `O_PATH`.
///
/// - Throws: `ELOOP` if any component is a symbolic link.
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

/// Opens an entry of an open directory as a reference for other calls (`O_PATH`); a symbolic link
/// is not followed.
package func openReference(
    _ name: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileDescriptor {
    try openFile(in: directory, name, flags: [.reference, .noFollow])
}

/// Opens a file that is open with `O_PATH` again, for reading and writing.
package func reopenForWriting(_ descriptor: FileDescriptor) throws(Errno) -> FileDescriptor {
    try reopenFile(descriptor, flags: [.readWrite, .nonBlocking, .noTerminal])
}

/// Opens an item below an open directory, without following links: `openat2(2)` with
/// `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`, `RESOLVE_NO_MAGICLINKS` and `RESOLVE_NO_XDEV`.
///
/// - Parameters:
///   - flags: `O_CLOEXEC` is added.
///   - crossesMounts: omits `RESOLVE_NO_XDEV`.
/// - Throws: `EXDEV` if the path leaves the directory, or crosses a mount point without
///   `crossesMounts`; `ELOOP` for a link in the path, including its last component; `ENOSYS` before
///   Linux 5.6.
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

/// Opens a path as a reference for other calls, as a process with another root directory would:
/// `openat2(2)` with `RESOLVE_IN_ROOT` and `O_PATH`.
///
/// - Parameter root: the open directory that is `/`, also for links in the path.
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

/// As ``openBeneath(_:in:flags:)``; reading preserves the access time where permitted.
package func openBeneathPreservingAccessTime(
    _ path: FilePath, in directory: FileDescriptor, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openBeneath(path, in: directory, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openBeneath(path, in: directory, flags: flags)
    }
}

// Opening so that reading does not count as use: with `O_NOATIME` where permitted, which is for the
// owner and privileged processes.

/// Opens a file in an open directory; reading it preserves its access time where permitted.
package func openPreservingAccessTime(
    in directory: FileDescriptor, _ name: FilePath, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(in: directory, name, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openFile(in: directory, name, flags: flags)
    }
}

/// Opens the file at a location; reading it preserves its access time where permitted.
package func openPreservingAccessTime(
    _ location: borrowing some FileLocation & ~Copyable, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(location, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openFile(location, flags: flags)
    }
}
