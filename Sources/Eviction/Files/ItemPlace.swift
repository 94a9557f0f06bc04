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
    init(_ path: FilePath) throws {
        guard let last = path.lastComponent, last.kind == .regular, path.isAbsolute else {
            throw FileError.opening(.invalidArgument, path)
        }
        self.path = path
        name = FilePath(root: nil, [last])
        directory = try openDirectoryReferenceWithoutLinks(path.removingLastComponent())
    }

    deinit {
        // Opened with O_PATH: there is nothing to write back.
        closeIgnoringErrors(directory)
    }

    /// The item that has the name now.
    var location: DirectoryEntryLocation {
        DirectoryEntryLocation(directory: directory, name: name, pathForMessages: path)
    }
}
