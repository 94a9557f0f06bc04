import ResourceValues
import SystemCalls
import SystemPackage

/// A file's name and its open directory, reached by a path without symbolic links.
final class ItemPlace: Sendable {
    /// The absolute path.
    let path: FilePath
    let name: FilePath
    let directory: FileDescriptor

    /// Opens the directory of a file.
    ///
    /// - Parameter path: absolute, as `realPath(of:)` returns it; a symbolic link in the path of the
    ///   directory is an error.
    init(_ path: FilePath) throws(EvictionError) {
        guard let last = path.lastComponent, last.kind == .regular, path.isAbsolute else {
            throw .file(.opening(.invalidArgument, path))
        }
        self.path = path
        name = FilePath(root: nil, [last])
        directory = try attempt(path) { () throws(Errno) in
            try openDirectoryReferenceWithoutLinks(path.removingLastComponent())
        }
    }

    deinit {
        // Opened with O_PATH: there is nothing to write back.
        closeQuietly(directory)
    }

    /// Returns the status of the item that has the name now.
    func status() throws(EvictionError) -> FileStatus {
        try attempt(path) { () throws(Errno) in
            try DirectoryEntryLocation(directory: directory, name: name).status()
        }
    }

    /// Returns the state of an eviction that the file shows; nil for an ordinary file.
    func evictionSign(_ status: FileStatus) throws(EvictionError) -> EvictionSign? {
        let location = DirectoryEntryLocation(directory: directory, name: name)
        return try journaling { () throws(FileError) in try EvictionSign(of: location, status) }
    }
}

/// Runs system calls and throws their errno as an error of the file at a path.
func attempt<Result: ~Copyable>(
    _ path: FilePath?, _ body: () throws(Errno) -> Result
) throws(EvictionError) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw .file(.changingItem(error, path))
    }
}

/// Runs an operation and throws its `FileError` as an ``EvictionError``.
func journaling<Result>(
    _ body: () throws(FileError) -> Result
) throws(EvictionError) -> Result {
    do throws(FileError) {
        return try body()
    } catch {
        throw .file(error)
    }
}
