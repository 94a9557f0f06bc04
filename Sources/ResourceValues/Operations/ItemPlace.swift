import SystemCalls
import SystemPackage

/// The open directory of an existing or future item, and the item's name in it.
///
/// The directory stays the same whatever becomes of the path; a symbolic link with the name is
/// never followed.
struct ItemPlace {
    let name: FilePath
    /// The whole path, for messages.
    let path: FilePath
    let parent: OpenDirectory

    var directory: FileDescriptor { parent.descriptor }

    /// Opens the parent directory of a path.
    ///
    /// - Throws: ``FileError``: those of `openat(2)`; `other` for a path that does not end in a
    ///   name.
    init(_ path: FilePath) throws(FileError) {
        guard let last = path.lastComponent, last.kind == .regular else {
            throw .changingItem(.invalidArgument, path)
        }
        let parentPath = path.removingLastComponent()
        parent = try attempt(path) { () throws(Errno) in
            try OpenDirectory(at: parentPath.isEmpty ? "." : parentPath)
        }
        name = FilePath(root: nil, [last])
        self.path = path
    }

    var location: DirectoryEntryLocation {
        parent.location(of: name, pathForMessages: path)
    }

    /// Returns the item's status; nil if the item does not exist.
    func statusIfPresent() throws(FileError) -> FileStatus? {
        do throws(Errno) {
            return try location.status()
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw .readingStatus(error, of: path)
        }
    }

    /// Returns the item's status.
    func status() throws(FileError) -> FileStatus {
        guard let status = try statusIfPresent() else {
            throw .readingStatus(.noSuchFileOrDirectory, of: path)
        }
        return status
    }

    /// Returns the class that new items in the directory take: the one stored on the directory
    /// itself.
    func inheritedProtection() throws(FileError) -> FileProtection? {
        do throws(FileError) {
            return try parent.value(for: .fileProtection)
        } catch {
            var error = error
            error.path = path.removingLastComponent()
            throw error
        }
    }
}

/// Runs system calls and throws their errno as the error of the item at a path.
func attempt<Result: ~Copyable>(
    _ path: FilePath?, _ body: () throws(Errno) -> Result
) throws(FileError) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw .changingItem(error, path)
    }
}

/// Returns a random name for an item that is not complete yet.
func makeTemporaryName() -> FilePath {
    FilePath(".resval-\(String(UInt64.random(in: .min ... .max), radix: 36))")
}
