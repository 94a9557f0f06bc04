import CLinux
import SystemPackage

// Creating, naming and removing items, mostly by their names in open directories. No call
// follows a symbolic link with the name.

package enum NamingCondition: UInt32, Sendable {
    /// An item with the name is replaced, as `rename(2)` allows.
    case replacing = 0
    /// No item has the name (`RENAME_NOREPLACE`).
    case absent = 1
    /// Both names exist and are exchanged (`RENAME_EXCHANGE`).
    case exchanging = 2
}

/// Creates a regular file: `openat(2)` with `O_CREAT` and `O_EXCL`.
package func makeFile(
    _ name: FilePath, in directory: FileDescriptor, permissions: UInt16
) throws(Errno) -> FileDescriptor {
    try openFile(
        in: directory, name, flags: [.readWrite, .create, .exclusiveCreate, .noFollow],
        permissions: mode_t(permissions))
}

/// Creates an unnamed regular file: `openat(2)` with `O_TMPFILE`.
///
/// - Returns: nil where the filesystem does not support unnamed files.
package func makeUnnamedFile(
    in directory: FileDescriptor, permissions: UInt16
) throws(Errno) -> FileDescriptor? {
    do throws(Errno) {
        let descriptor = try perform(.openat) {
            linux_open_unnamed(directory.rawValue, mode_t(permissions))
        }
        return FileDescriptor(rawValue: CInt(descriptor))
    } catch .notSupported, .isDirectory, .noSuchAddressOrDevice {
        return nil
    }
}

/// Creates a file without a name, in a directory whose filesystem has room for it: unnamed, or with
/// a name that is removed at once.
package func makeScratchFile(in directory: FilePath) throws(Errno) -> FileDescriptor {
    let parent = OwnedDescriptor(try openDirectoryReference(directory))
    if let file = try makeUnnamedFile(in: parent.descriptor, permissions: 0o600) { return file }
    let name = FilePath(".resval-\(UInt64.random(in: 0...UInt64.max))")
    let file = try makeFile(name, in: parent.descriptor, permissions: 0o600)
    try removeItem(name, in: parent.descriptor, isDirectory: false)
    return file
}

/// Gives an unnamed file a name that must not exist: `linkat(2)` through `/proc`.
package func nameFile(
    _ descriptor: FileDescriptor, _ name: FilePath, in directory: FileDescriptor
) throws(Errno) {
    try perform(.linkat, processPath(of: descriptor.rawValue), name) {
        linux_linkat(AT_FDCWD, $0, directory.rawValue, $1, AT_SYMLINK_FOLLOW)
    }
}

/// Renames an item, possibly into another directory: `renameat2(2)`.
///
/// Where that call is not available or the filesystem cannot refuse to replace (sshfs, NFS), the
/// condition ``NamingCondition/absent`` is met by a hard link and removal of the old name. For a
/// directory, and where hard links are not possible, an empty item is created at the new name and
/// replaced: `rename(2)` replaces no directory that has entries. A process killed in between leaves
/// both names, or the empty item.
///
/// - Throws: `EEXIST` when ``NamingCondition/absent`` is not met; `ENOSYS` for
///   ``NamingCondition/exchanging`` where the call is not available.
package func renameItem(
    _ name: FilePath, in directory: FileDescriptor,
    to newName: FilePath, in newDirectory: FileDescriptor, _ condition: NamingCondition
) throws(Errno) {
    do throws(Errno) {
        try rename(name, in: directory, to: newName, in: newDirectory, condition)
    } catch .invalidArgument where condition == .absent {
        try moveToAbsentName(name, in: directory, to: newName, in: newDirectory)
    } catch .noFunction where condition == .absent && !AvailableCalls.renameat2 {
        try moveToAbsentName(name, in: directory, to: newName, in: newDirectory)
    }
}

private func moveToAbsentName(
    _ name: FilePath, in directory: FileDescriptor,
    to newName: FilePath, in newDirectory: FileDescriptor
) throws(Errno) {
    let item = DirectoryEntryLocation(directory: directory, name: name)
    let isDirectory = try item.status().kind == .directory
    if isDirectory {
        try makeDirectory(newName, in: newDirectory, permissions: 0o700)
    } else if try link(name, in: directory, to: newName, in: newDirectory) {
        return try removeItem(name, in: directory, isDirectory: false)
    } else {
        try closeFile(makeFile(newName, in: newDirectory, permissions: 0o600))
    }
    do throws(Errno) {
        try rename(name, in: directory, to: newName, in: newDirectory, .replacing)
    } catch {
        try? removeItem(newName, in: newDirectory, isDirectory: isDirectory)
        throw error
    }
}

/// Creates a hard link, whose name must not exist: `linkat(2)`. Returns false where that is not
/// possible.
private func link(
    _ name: FilePath, in directory: FileDescriptor,
    to newName: FilePath, in newDirectory: FileDescriptor
) throws(Errno) -> Bool {
    do throws(Errno) {
        try perform(.linkat, name, newName) {
            linux_linkat(directory.rawValue, $0, newDirectory.rawValue, $1, 0)
        }
        return true
    } catch .notPermitted, .notSupported, .noFunction, .tooManyLinks {
        return false
    }
}

private func rename(
    _ name: FilePath, in directory: FileDescriptor,
    to newName: FilePath, in newDirectory: FileDescriptor, _ condition: NamingCondition
) throws(Errno) {
    guard AvailableCalls.renameat2 || condition == .replacing else { throw .noFunction }
    try perform(.renameat2, name, newName) {
        AvailableCalls.renameat2
            ? linux_renameat2(
                directory.rawValue, $0, newDirectory.rawValue, $1, condition.rawValue)
            : linux_renameat(directory.rawValue, $0, newDirectory.rawValue, $1)
    }
}

/// Creates a directory: `mkdirat(2)`.
package func makeDirectory(
    _ name: FilePath, in directory: FileDescriptor, permissions: UInt16
) throws(Errno) {
    try perform(.mkdirat, name) { linux_mkdirat(directory.rawValue, $0, mode_t(permissions)) }
}

/// Creates a symbolic link: `symlinkat(2)`.
package func makeSymbolicLink(
    _ name: FilePath, in directory: FileDescriptor, to target: FilePath
) throws(Errno) {
    try perform(.symlinkat, target, name) { linux_symlinkat($0, directory.rawValue, $1) }
}

/// Creates a FIFO or a device node: `mknodat(2)`.
///
/// - Parameter device: the device number; nil for a FIFO.
package func makeSpecialFile(
    _ name: FilePath, in directory: FileDescriptor, _ kind: FileKind, permissions: UInt16,
    device: DeviceNumber?
) throws(Errno) {
    let type: mode_t
    switch kind {
    case .fifo: type = mode_t(S_IFIFO)
    case .characterDevice: type = mode_t(S_IFCHR)
    case .blockDevice: type = mode_t(S_IFBLK)
    default: throw .invalidArgument
    }
    try perform(.mknodat, name) {
        linux_mknodat(
            directory.rawValue, $0, type | mode_t(permissions), device?.major ?? 0,
            device?.minor ?? 0)
    }
}

/// Removes a name: `unlinkat(2)`.
package func removeItem(
    _ name: FilePath, in directory: FileDescriptor, isDirectory: Bool
) throws(Errno) {
    try perform(.unlinkat, name) {
        linux_unlinkat(directory.rawValue, $0, isDirectory ? AT_REMOVEDIR : 0)
    }
}

/// Removes a name other than a directory's: `unlink(2)`.
package func removeFile(_ path: FilePath) throws(Errno) {
    try perform(.unlink, path) { linux_unlink($0) }
}

/// Creates a directory and its missing ancestors, accessible by their owner only, and synchronizes
/// the parent of each.
///
/// - Throws: ``FileError``, naming the directory that could not be created.
package func makeDirectories(_ path: FilePath) throws(FileError) {
    var reached = FilePath(root: path.root, [])
    for component in path.components {
        reached.append(component)
        do throws(Errno) {
            try makeDirectory(
                reached, in: .workingDirectory, permissions: 0o700)
            let parent = reached.removingLastComponent()
            let directory = OwnedDescriptor(
                try openDirectoryReference(parent.isEmpty ? "." : parent))
            try synchronizeDirectory(directory.descriptor)
        } catch .fileExists {
            continue
        } catch .readOnlyFileSystem where (try? reached.status()) != nil {
            continue
        } catch {
            throw FileError(error, of: reached)
        }
    }
}
