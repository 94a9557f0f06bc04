import SystemCalls
import SystemPackage

/// Returns the names in an open directory, in no particular order.
func names(in directory: FileDescriptor) throws(Errno) -> [[UInt8]] {
    var names: [[UInt8]] = []
    try forEachName(in: directory) { name in
        names.append(name)
        return true
    }
    return names
}

/// Creates a directory, and those above it that are missing. Another process may create those above
/// at the same time.
///
/// - Parameter permissions: those of the last directory, less the process's umask.
func makeDirectories(at path: FilePath, permissions: UInt16 = 0o777) throws(Errno) {
    var missing: [FilePath] = []
    var directory = path
    while !directory.isEmpty, !(try itemExists(directory)) {
        missing.append(directory)
        directory.removeLastComponent()
    }
    for directory in missing.reversed() {
        do throws(Errno) {
            try makeDirectory(
                directory, in: .workingDirectory,
                permissions: directory == path ? permissions : 0o777)
        } catch .fileExists where directory != path {
            continue
        }
    }
}

/// Whether a path leads to something.
func itemExists(_ path: FilePath) throws(Errno) -> Bool {
    do throws(Errno) {
        _ = try path.status()
        return true
    } catch .noSuchFileOrDirectory {
        return false
    }
}

/// Whether a path leads to an empty directory, or to nothing.
///
/// - Parameter isIgnored: whether a name does not count.
/// - Throws: ``BackupError`` when it is something else, or cannot be read.
func isEmptyOrAbsent(
    _ path: FilePath, but isIgnored: ([UInt8]) -> Bool = { _ in false }
) throws(BackupError) -> Bool {
    var isEmpty = true
    do throws(Errno) {
        try forEachName(in: path) { name in
            isEmpty = isIgnored(name)
            return isEmpty
        }
    } catch .noSuchFileOrDirectory {
        return true
    } catch {
        throw BackupError(.other, "cannot be read as a directory: \(error)", path: path)
    }
    return isEmpty
}
