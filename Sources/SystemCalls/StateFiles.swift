import CLinux
import SystemPackage

// State files of the programs, in a user's state directory: locks, journals, records. They are
// trusted because only the user who runs the program can have written them. That is checked each
// time, since root may run with the environment of another user.

/// The name of the programs' directory in `$XDG_STATE_HOME`.
package let stateDirectoryName = "resval"

/// Checks that a state directory, and each ancestor up to ``stateDirectoryName``, is a directory
/// that this process's user owns and no other user can write to.
///
/// - Returns: false if it does not exist.
/// - Throws: ``FileError``, naming the directory that fails the check: `permissionDenied`,
///   `notADirectory`.
package func requireOwnStateDirectory(_ directory: FilePath) throws(FileError) -> Bool {
    guard try directory.withoutFollowing.statusIfPresent() != nil else { return false }
    for path in pathsInState(directory).reversed() {
        guard let status = try path.withoutFollowing.statusIfPresent() else { return false }
        try requireOwn(status, .directory, path)
    }
    return true
}

/// Returns a state directory and each ancestor up to ``stateDirectoryName``.
private func pathsInState(_ directory: FilePath) -> [FilePath] {
    var paths = [directory]
    if directory.components.contains(where: { $0.string == stateDirectoryName }) {
        while let path = paths.last, path.lastComponent?.string != stateDirectoryName {
            paths.append(path.removingLastComponent())
        }
    }
    return paths
}

/// Whether a state directory that ``requireOwnStateDirectory(_:)`` refuses would be refused with any
/// permissions: it, an ancestor up to ``stateDirectoryName``, or the directory that denies the way to
/// them belongs to another user or is no directory. So no program of this process's user trusts what
/// it contains.
package func isStateOfAnother(_ directory: FilePath) -> Bool {
    do throws(FileError) {
        var isReached = false
        var path = directory
        for part in pathsInState(directory) {
            path = part
            guard let status = try statusIfReachable(part.withoutFollowing) else { continue }
            if status.kind != .directory || status.owner != effectiveUser() { return true }
            isReached = true
        }
        while !isReached, path.removeLastComponent() {
            guard let status = try statusIfReachable(path) else { continue }
            if status.kind != .directory { return true }
            return status.owner != effectiveUser() && status.permissions & 0o001 == 0
        }
        return false
    } catch {
        return false
    }
}

/// Returns the status of a location; nil if a directory above it denies access or is not a directory.
private func statusIfReachable(
    _ location: borrowing some FileLocation & ~Copyable
) throws(FileError) -> FileStatus? {
    do throws(FileError) {
        return try location.fileStatus()
    } catch  where error.code == .permissionDenied || error.code == .notADirectory {
        return nil
    }
}

/// Creates a state directory if it is missing, accessible by its owner only.
///
/// - Throws: as ``requireOwnStateDirectory(_:)``; `permissionDenied`, before anything is created,
///   if root would create it in a directory of another user.
package func makeStateDirectory(_ directory: FilePath) throws(FileError) {
    if try requireOwnStateDirectory(directory) { return }
    // For any other user, the kernel denies writing to another user's directory.
    if effectiveUser() == 0 { try requirePlaceOfRoot(for: directory) }
    try makeDirectories(directory)
    _ = try requireOwnStateDirectory(directory)
}

/// Opens a state file after checking its directory, and the way to it as ``openTrustedFile(_:)`` does:
/// `openat(2)` with `O_NOFOLLOW`.
///
/// - Parameter isMade: whether to open the file for writing, too, and to create it if it is
///   missing; its directory must exist then.
/// - Returns: nil if it does not exist.
/// - Throws: ``FileError``: `permissionDenied` for a file of another user or one that others can
///   reach and write to, `other` for anything but a regular file, `symbolicLinkLoop` for a link,
///   and others.
package func openStateFile(
    _ path: FilePath, makingIt isMade: Bool = false
) throws(FileError) -> FileDescriptor? {
    guard try requireOwnStateDirectory(path.removingLastComponent()) || isMade else { return nil }
    try requireTrustedWay(to: path)
    let opened: FileDescriptor
    do throws(Errno) {
        opened = try openFile(
            in: .workingDirectory, path,
            flags: isMade
                ? [.readWrite, .create, .noFollow, .nonBlocking, .noTerminal]
                : [.readOnly, .noFollow, .nonBlocking, .noTerminal],
            permissions: 0o600)
    } catch .noSuchFileOrDirectory where !isMade {
        return nil
    } catch {
        throw isMade ? FileError(error, of: path) : .opening(error, path)
    }
    let file = OwnedDescriptor(opened)
    try requireOrdinaryFilesystem(file.descriptor, path)
    let found = try file.descriptor.named(path).fileStatus()
    let directory = try path.removingLastComponent().withoutFollowing.statusIfPresent()
    // No other user can write in a directory none can enter, whatever mode the umask left.
    let isShut = directory.map { $0.permissions & 0o077 == 0 } ?? false
    try requireOwn(found, .regularFile, path, isOutOfReach: isShut && found.linkCount == 1)
    return file.release()
}

/// Reads a state file.
///
/// - Throws: as ``openStateFile(_:makingIt:)``; `tooLarge`.
package func contentsOfStateFile(
    _ path: FilePath, limit: Int
) throws(FileError) -> [UInt8]? {
    guard let opened = try openStateFile(path) else { return nil }
    let file = OwnedDescriptor(opened)
    return try calls(on: path, FileError.opening) { () throws(Errno) in
        try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: limit)
    }
}

extension FileError {
    /// Whether the storage, rather than the owner or kind of an item, prevents writing state.
    package var isOfStorage: Bool {
        [.noSpace, .quotaExceeded, .readOnlyFilesystem, .inputOutput].contains(code)
    }
}

private func requireOwn(
    _ status: FileStatus, _ kind: FileKind, _ path: FilePath, isOutOfReach: Bool = false
) throws(FileError) {
    guard status.kind == kind else {
        let name = kind == .directory ? "directory" : "regular file"
        throw FileError(
            code: kind == .directory ? .notADirectory : .other,
            message: "is not a \(name)",
            advice: "move it away", path: path)
    }
    guard status.owner == effectiveUser() else { throw .stateOfAnother(path) }
    guard !status.isWritableByOthers || isOutOfReach else {
        throw FileError(
            code: .permissionDenied,
            message: "users other than its owner can write to it, so it is not trusted",
            advice: "check its contents, then chmod go-w", path: path)
    }
}

/// Checks that root creates directories only in its own, reached through no link of another user.
private func requirePlaceOfRoot(for directory: FilePath) throws(FileError) {
    var reached = FilePath(root: directory.root, [])
    for component in directory.components {
        let next = reached.appending(component)
        guard let status = try next.withoutFollowing.statusIfPresent() else { break }
        reached = next
        guard status.kind != .symbolicLink || status.owner == 0 else {
            throw .stateOfAnother(next)
        }
    }
    guard try reached.fileStatus().owner == 0 else { throw .stateOfAnother(reached) }
}

extension FileError {
    /// Returns the error for state that is, or would be, under the control of another user.
    fileprivate static func stateOfAnother(_ path: FilePath) -> FileError {
        FileError(
            code: .permissionDenied,
            message: "belongs to another user, so it is not trusted",
            advice: "use sudo without -E, or su with -; else set HOME and XDG_STATE_HOME to "
                + "directories of the user who runs this", path: path)
    }
}
