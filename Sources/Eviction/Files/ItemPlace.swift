import ResourceValues
import SystemCalls
import SystemPackage

/// A file's name in its open directory, reached by a path without symbolic links.
final class ItemPlace: Sendable {
    /// The whole path.
    let path: FilePath
    let name: FilePath
    let directory: FileDescriptor

    /// - Parameter path: absolute, as `realPath(of:)` answers it; a link put there since is an error.
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

    /// The status of whatever has the name now.
    func status() throws(EvictionError) -> FileStatus {
        try attempt(path) { () throws(Errno) in
            try DirectoryEntryLocation(directory: directory, name: name).status()
        }
    }

    /// What the file shows of an eviction.
    func evictionSign(_ status: FileStatus) throws(EvictionError) -> EvictionSign? {
        let location = DirectoryEntryLocation(directory: directory, name: name)
        return try journaling { () throws(FileError) in try EvictionSign(of: location, status) }
    }
}

/// Runs system calls whose errno is an error of the file at a path.
func attempt<Result: ~Copyable>(
    _ path: FilePath?, _ body: () throws(Errno) -> Result
) throws(EvictionError) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw .file(.changingItem(error, path))
    }
}

/// Runs work on the journal.
func journaling<Result>(
    _ body: () throws(FileError) -> Result
) throws(EvictionError) -> Result {
    do throws(FileError) {
        return try body()
    } catch {
        throw .file(error)
    }
}
