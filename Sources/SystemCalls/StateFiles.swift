import CLinux
import SystemPackage

// What the programs keep for themselves in a user's directory of state: locks, journals, records. They are
// believed because only the user who runs the program can have written them. That is looked at each time,
// since root may have the environment of another user.

/// The name of the programs' own directory in `$XDG_STATE_HOME`.
package let stateDirectoryName = "resval"

/// Makes sure that a directory of state, and each one above it up to ``stateDirectoryName``, is a
/// directory of this process's user to which no other user can write.
///
/// - Returns: false when it does not exist.
/// - Throws: ``FileError``, naming the directory that is none: `permissionDenied`, `notADirectory`.
package func requireOwnStateDirectory(_ directory: FilePath) throws(FileError) -> Bool {
    guard try statusIfPresent(directory) != nil else { return false }
    var paths = [directory]
    if directory.components.contains(where: { $0.string == stateDirectoryName }) {
        while let path = paths.last, path.lastComponent?.string != stateDirectoryName {
            paths.append(path.removingLastComponent())
        }
    }
    for path in paths.reversed() {
        guard let status = try statusIfPresent(path) else { return false }
        try requireOwn(status, .directory, path)
    }
    return true
}

/// Makes a directory of state where it is missing, for its owner only.
///
/// - Throws: as ``requireOwnStateDirectory(_:)``; `permissionDenied`, before anything is made, for root
///   in a directory of another user.
package func makeStateDirectory(_ directory: FilePath) throws(FileError) {
    if try requireOwnStateDirectory(directory) { return }
    // The kernel keeps all others from such places.
    if effectiveUser() == 0 { try requirePlaceOfRoot(for: directory) }
    try makeDirectories(directory)
    _ = try requireOwnStateDirectory(directory)
}

/// Opens a file of state, after a look at its directory: `openat(2)` with `O_NOFOLLOW`.
///
/// - Parameter isMade: whether it is made where it is missing, and opened for writing, too; its
///   directory exists then.
/// - Returns: nil when it does not exist.
/// - Throws: ``FileError``: `permissionDenied` for a file of another user or one that others can write
///   and reach, `other` for anything but a regular file, `symbolicLinkLoop` for a link, and others.
package func openStateFile(
    _ path: FilePath, makingIt isMade: Bool = false
) throws(FileError) -> FileDescriptor? {
    guard try requireOwnStateDirectory(path.removingLastComponent()) || isMade else { return nil }
    let file: FileDescriptor
    do throws(Errno) {
        file = try openFile(
            in: .workingDirectory, path,
            flags: isMade
                ? [.readWrite, .create, .noFollow, .nonBlocking, .noTerminal]
                : [.readOnly, .noFollow, .nonBlocking, .noTerminal],
            permissions: 0o600)
    } catch .noSuchFileOrDirectory where !isMade {
        return nil
    } catch {
        throw isMade ? .changingItem(error, path) : .opening(error, path)
    }
    do throws(FileError) {
        let found = try status(ofOpen: file, path)
        let directory = try statusIfPresent(path.removingLastComponent())
        // Where no other user can enter, none can have written, whatever the umask left in the mode.
        let isShut = directory.map { $0.permissions & 0o077 == 0 } ?? false
        try requireOwn(
            found, .regularFile, path, isOutOfReach: isShut && found.linkCount == 1)
        return file
    } catch {
        closeQuietly(file)
        throw error
    }
}

/// Reads a file of state.
///
/// - Parameter limit: the most bytes it may have.
/// - Returns: nil when it does not exist.
/// - Throws: as ``openStateFile(_:makingIt:)``; `tooLarge`.
package func contentsOfStateFile(
    _ path: FilePath, limit: Int
) throws(FileError) -> [UInt8]? {
    guard let opened = try openStateFile(path) else { return nil }
    let file = OwnedDescriptor(opened)
    do throws(Errno) {
        return try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: limit)
    } catch {
        throw .opening(error, path)
    }
}

extension FileError {
    /// Whether the device keeps state from being written, and not the one it belongs to.
    package var isOfStorage: Bool {
        [.noSpace, .quotaExceeded, .readOnlyFilesystem, .inputOutput].contains(code)
    }
}

private func status(ofOpen file: FileDescriptor, _ path: FilePath) throws(FileError) -> FileStatus {
    do throws(Errno) {
        return try file.status()
    } catch {
        throw .readingStatus(error, of: path)
    }
}

/// The status of what has a name, a link itself among them; nil when nothing has it.
private func statusIfPresent(_ path: FilePath) throws(FileError) -> FileStatus? {
    do throws(Errno) {
        return try path.withoutFollowing.status()
    } catch .noSuchFileOrDirectory {
        return nil
    } catch {
        throw .readingStatus(error, of: path)
    }
}

private func requireOwn(
    _ status: FileStatus, _ kind: FileKind, _ path: FilePath, isOutOfReach: Bool = false
) throws(FileError) {
    guard status.kind == kind else {
        let name = kind == .directory ? "directory" : "regular file"
        throw FileError(
            code: kind == .directory ? .notADirectory : .other,
            message: "is not a \(name), and state is kept in nothing else",
            advice: "move it away", path: path)
    }
    guard status.owner == effectiveUser() else { throw .stateOfAnother(path) }
    guard !status.isWritableByOthers || isOutOfReach else {
        throw FileError(
            code: .permissionDenied,
            message: "users other than its owner can write here, so what it says is not believed",
            advice: "look at what is there, then chmod go-w", path: path)
    }
}

/// Makes sure that root makes directories only in root's, and goes there by no link of another user.
private func requirePlaceOfRoot(for directory: FilePath) throws(FileError) {
    var reached = FilePath(root: directory.root, [])
    for component in directory.components {
        let next = reached.appending(component)
        guard let status = try statusIfPresent(next) else { break }
        reached = next
        guard status.kind != .symbolicLink || status.owner == 0 else {
            throw .stateOfAnother(next)
        }
    }
    let owner: UInt32
    do throws(Errno) {
        owner = try reached.status().owner
    } catch {
        throw .readingStatus(error, of: reached)
    }
    guard owner == 0 else { throw .stateOfAnother(reached) }
}

extension FileError {
    /// That state would be kept, or is, where another user decides what it says.
    fileprivate static func stateOfAnother(_ path: FilePath) -> FileError {
        FileError(
            code: .permissionDenied,
            message: "belongs to another user, and state of others is not believed",
            advice: "use sudo without -E, or su with -; else set HOME and XDG_STATE_HOME to "
                + "directories of the user who runs this", path: path)
    }
}
