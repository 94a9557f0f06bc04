import SystemCalls
import SystemPackage

/// A copy of a directory's contents into an empty directory, with marks, modes and times.
struct TreeCopier {
    /// The walk of the source. The context is the status of the directory, for its copy.
    private var walk: DirectoryWalk<FileStatus>
    /// The copy of the directory that the walk is in.
    private var target: DirectoryCursor
    private let paths: (FilePath, FilePath)
    private let targetRoot: FileIdentity
    private let shouldCopy: (FilePath, FilePath) -> Bool

    /// - Parameters:
    ///   - source: a directory, open for reading.
    ///   - target: an empty directory, open for reading.
    ///   - paths: the paths of both, for messages and for `shouldCopy`.
    init(
        _ source: OpenDirectory, _ target: OpenDirectory, paths: (FilePath, FilePath),
        shouldCopy: @escaping (FilePath, FilePath) -> Bool
    ) throws(FileError) {
        targetRoot = try attempt(paths.1) { () throws(Errno) in try target.status().identity }
        let (status, names) = try begin(source, target, paths, notIn: targetRoot)
        walk = DirectoryWalk(in: source, path: paths.0.bytes, names: names, context: status)
        self.target = DirectoryCursor(target)
        self.paths = paths
        self.shouldCopy = shouldCopy
    }

    /// Copies everything, and sets each directory's mode and times after copying its contents.
    mutating func run() throws(FileError) {
        while let step = try next() {
            switch step {
            case .entry(let name):
                try copy(name)
            case .end(let name, let status):
                try attempt(FilePath(bytes: walk.path(of: name))) { () throws(Errno) in
                    try target.directory.descriptor.finishCopy(of: status)
                    try target.ascend()
                }
            }
        }
        try attempt(paths.0) { () throws(Errno) in
            try target.directory.descriptor.finishCopy(of: walk.context)
        }
    }

    private mutating func next() throws(FileError) -> DirectoryWalk<FileStatus>.Step? {
        do throws(Errno) {
            return try walk.next()
        } catch {
            throw .changingItem(error, FilePath(bytes: walk.path))
        }
    }

    private mutating func copy(_ name: FilePath) throws(FileError) {
        let bytes = walk.path(of: name)
        let path = FilePath(bytes: bytes)
        let targetPath = FilePath(bytes: paths.1.bytes + bytes.dropFirst(paths.0.length))
        guard shouldCopy(path, targetPath) else { return }
        let (source, target) = (walk.directory, target.directory)
        let location = source.location(of: name, pathForMessages: path)
        let kind = try attempt(path) { () throws(Errno) in try location.status().kind }
        switch kind {
        case .directory:
            try descend(into: name, path, targetPath)
        case .regularFile:
            let input = OwnedDescriptor(
                try attempt(path) { () throws(Errno) in
                    try openForReading(name, in: source.descriptor)
                })
            let output = OwnedDescriptor(
                try attempt(targetPath) { () throws(Errno) in
                    try makeFile(name, in: target.descriptor, permissions: 0o600)
                })
            try copyFile(input.descriptor, to: output.descriptor, paths: (path, targetPath))
        case .symbolicLink:
            try copyLink(location, to: name, in: target.descriptor, targetPath)
        default:
            throw unsupportedKind(path)
        }
    }

    private mutating func descend(
        into name: FilePath, _ path: FilePath, _ targetPath: FilePath
    ) throws(FileError) {
        let source: OpenDirectory
        do throws(Errno) {
            source = try walk.directory.openDirectory(name)
        } catch {
            throw .readingDirectory(error, path)
        }
        do throws(Errno) {
            try makeDirectory(name, in: target.directory.descriptor, permissions: 0o700)
            target.descend(into: try target.directory.openDirectory(name), named: name)
        } catch {
            throw .changingItem(error, targetPath)
        }
        let (status, names) = try begin(
            source, target.directory, (path, targetPath), notIn: targetRoot)
        walk.enter(source, names: names, context: status)
    }
}

/// Copies a directory's attributes.
///
/// - Parameter root: the directory that everything is copied into. A copy inside its own source
///   would never end, so it is an error to meet it.
/// - Returns: the status of the directory, and the names in it.
private func begin(
    _ source: OpenDirectory, _ target: OpenDirectory, _ paths: (FilePath, FilePath),
    notIn root: FileIdentity
) throws(FileError) -> (FileStatus, EntryNames) {
    let status = try attempt(paths.0) { () throws(Errno) in try source.status() }
    guard status.identity != root else { throw .changingItem(.invalidArgument, paths.0) }
    try withPath(paths.1) { () throws(FileError) in
        try copyUserAttributes(from: source, to: target.descriptor)
    }
    do throws(Errno) {
        return (status, try source.names())
    } catch {
        throw .readingDirectory(error, paths.0)
    }
}

/// Copies attributes, content, mode and times from one open file to an empty one.
///
/// Attributes are copied first, so that the content is never visible without its marks.
func copyFile(
    _ source: FileDescriptor, to target: FileDescriptor, paths: (FilePath, FilePath)
) throws(FileError) {
    let status = try attempt(paths.0) { () throws(Errno) in try source.status() }
    guard status.kind == .regularFile else { throw unsupportedKind(paths.0) }
    try withPath(paths.1) { () throws(FileError) in
        try copyUserAttributes(from: source, to: target)
    }
    try attempt(paths.1) { () throws(Errno) in
        try copyContent(from: source, size: status.size, to: target)
        try target.finishCopy(of: status)
    }
}

/// Creates a copy of a symbolic link.
func copyLink(
    _ location: DirectoryEntryLocation, to name: FilePath, in directory: FileDescriptor,
    _ path: FilePath
) throws(FileError) {
    try attempt(path) { () throws(Errno) in
        try makeSymbolicLink(name, in: directory, to: try symbolicLinkTarget(location))
    }
}

func unsupportedKind(_ path: FilePath) -> FileError {
    FileError(
        code: .unsupportedFileKind,
        message: "only regular files, directories and symbolic links can be copied or written",
        path: path)
}

/// Runs calls on a descriptor and gives their errors a path.
func withPath(
    _ path: FilePath, _ body: () throws(FileError) -> Void
) throws(FileError) {
    do throws(FileError) {
        try body()
    } catch {
        var error = error
        error.path = path
        throw error
    }
}

/// Removes an item and its contents, by name and without following links.
///
/// - Throws: the first errno; what was not removed before then stays.
package func removeTree(_ name: FilePath, in directory: OpenDirectory) throws(Errno) {
    var walk = DirectoryWalk(in: directory, names: EntryNames([name.bytes]), context: ())
    while let step = try walk.next() {
        switch step {
        case .entry(let name):
            guard try walk.directory.status(of: name).kind == .directory else {
                try walk.directory.remove(name)
                continue
            }
            let entered = try walk.directory.openDirectory(name)
            // Makes the directory writable so that its entries can be removed. Another user's
            // directory cannot be changed, but may permit removal.
            try? changeMode(0o700, of: entered.descriptor)
            walk.enter(entered, names: try entered.names(), context: ())
        case .end(let name, _):
            try walk.directory.remove(name, isDirectory: true)
        }
    }
}
