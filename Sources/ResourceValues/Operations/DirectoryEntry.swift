import SystemCalls
import SystemPackage

/// A name in an open directory: of an item, or of one that is to be created.
///
/// The directory stays the same whatever becomes of the path; a symbolic link with the name is
/// never followed. Errors have the entry's path.
struct DirectoryEntry: FileLocation {
    let name: FilePath
    /// The whole path, for messages.
    let path: FilePath
    let parent: OpenDirectory

    var directory: FileDescriptor { parent.descriptor }

    var pathForMessages: FilePath? { path }

    /// Opens the parent directory of a path.
    ///
    /// - Throws: ``FileError``: those of `openat(2)`; `other` for a path that does not end in a
    ///   name.
    init(_ path: FilePath) throws(FileError) {
        guard let last = path.lastComponent, last.kind == .regular else {
            throw FileError(.invalidArgument, of: path)
        }
        let parentPath = path.removingLastComponent()
        parent = try calls(on: path) { () throws(Errno) in
            try OpenDirectory(at: parentPath.isEmpty ? "." : parentPath)
        }
        name = FilePath(root: nil, [last])
        self.path = path
    }

    init(_ name: FilePath, in parent: OpenDirectory, path: FilePath) {
        self.name = name
        self.path = path
        self.parent = parent
    }

    /// Resolves to the entry, with the directory kept open until the call has ended.
    func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
        defer { withExtendedLifetime(parent) {} }
        try parent.location(of: name).lookUp(body)
    }

    func isSameName(as other: DirectoryEntry) throws(FileError) -> Bool {
        let parents = try calls(on: path) { () throws(Errno) in
            (try parent.status().identity, try other.parent.status().identity)
        }
        return name == other.name && parents.0 == parents.1
    }

    /// Returns the class that new items in the directory take: the one stored on the directory
    /// itself.
    func inheritedProtection() throws(FileError) -> FileProtection? {
        try parent.descriptor.named(path.removingLastComponent()).fileProtection
    }

    /// Opens the item for reading, without waiting for the other end of a FIFO.
    func openForReading() throws(FileError) -> OwnedDescriptor {
        try calls(on: path) { () throws(Errno) in
            OwnedDescriptor(try SystemCalls.openForReading(name, in: directory))
        }
    }

    /// Opens the item as a reference (`O_PATH`), which needs no permission on the item itself.
    func openReference() throws(FileError) -> OwnedDescriptor {
        try calls(on: path) { () throws(Errno) in
            OwnedDescriptor(try SystemCalls.openReference(to: self))
        }
    }

    func makeFile() throws(FileError) -> OwnedDescriptor {
        try calls(on: path) { () throws(Errno) in
            OwnedDescriptor(try SystemCalls.makeFile(name, in: directory, permissions: 0o600))
        }
    }

    func openDirectory() throws(FileError) -> OpenDirectory {
        return try calls(on: path, FileError.readingDirectory) { () throws(Errno) in
            try parent.openDirectory(name)
        }
    }
}

/// Returns a random name for an item that is not complete yet.
func makeTemporaryName() -> FilePath {
    FilePath(".resval-\(String(UInt64.random(in: .min ... .max), radix: 36))")
}
