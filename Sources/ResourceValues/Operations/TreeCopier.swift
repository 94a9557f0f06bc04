import SystemCalls
import SystemPackage

/// A copy of a directory's contents into an empty directory, with marks, modes and times.
struct TreeCopier: ~Copyable {
    private struct Level {
        let status: FileStatus
        let source: FilePath
        let target: FilePath
        var names: [FilePath]
    }

    private var source: DirectoryCursor
    private var target: DirectoryCursor
    private var levels: [Level] = []
    private let paths: (FilePath, FilePath)
    private var targetRoot: FileIdentity?
    private let shouldCopy: (FilePath, FilePath) -> Bool

    /// - Parameters:
    ///   - source: an open directory; the copier takes ownership of the descriptor.
    ///   - target: an empty open directory, likewise.
    ///   - paths: the paths of both, for messages and for `shouldCopy`.
    init(
        _ source: FileDescriptor, _ target: FileDescriptor, paths: (FilePath, FilePath),
        shouldCopy: @escaping (FilePath, FilePath) -> Bool
    ) {
        self.source = DirectoryCursor(source)
        self.target = DirectoryCursor(target)
        self.paths = paths
        self.shouldCopy = shouldCopy
    }

    /// Copies everything, and sets each directory's mode and times after copying its contents.
    mutating func run() throws(FileError) {
        let root = target.descriptor
        targetRoot = try attempt(paths.1) { () throws(Errno) in try root.status().identity }
        try enter(paths.0, paths.1)
        while let index = levels.indices.last {
            if let name = levels[index].names.popLast() {
                try copy(name, levels[index].source, levels[index].target)
            } else {
                try leave(levels.removeLast())
            }
        }
    }

    private mutating func enter(_ path: FilePath, _ targetPath: FilePath) throws(FileError) {
        let directory = source.descriptor
        let status = try attempt(path) { () throws(Errno) in try directory.status() }
        guard status.identity != targetRoot else {
            // The copy is inside its own source: it would never end.
            throw .changingItem(.invalidArgument, path)
        }
        try withPath(targetPath) { () throws(FileError) in
            try copyUserAttributes(from: directory, to: target.descriptor)
        }
        let names: [FilePath]
        do throws(Errno) {
            names = try source.names()
        } catch {
            throw .readingDirectory(error, path)
        }
        levels.append(Level(status: status, source: path, target: targetPath, names: names))
    }

    private mutating func leave(_ level: Level) throws(FileError) {
        do throws(Errno) {
            try target.descriptor.finishCopy(of: level.status)
            guard !levels.isEmpty else { return }
            try source.ascend()
            try target.ascend()
        } catch {
            throw .changingItem(error, level.source)
        }
    }

    private mutating func copy(
        _ name: FilePath, _ directory: FilePath, _ targetDirectory: FilePath
    ) throws(FileError) {
        let path = directory.appending(name.components)
        let targetPath = targetDirectory.appending(name.components)
        guard shouldCopy(path, targetPath) else { return }
        let location = DirectoryEntryLocation(
            directory: source.descriptor, name: name, pathForMessages: path)
        let kind = try attempt(path) { () throws(Errno) in try location.status().kind }
        switch kind {
        case .directory:
            try descend(into: name, path, targetPath)
        case .regularFile:
            let input = OwnedDescriptor(
                try attempt(path) { () throws(Errno) in
                    try openForReading(name, in: location.directory)
                })
            let directory = target.descriptor
            let output = OwnedDescriptor(
                try attempt(targetPath) { () throws(Errno) in
                    try makeFile(name, in: directory, permissions: 0o600)
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
        do throws(Errno) {
            try source.descend(into: name)
        } catch {
            throw .readingDirectory(error, path)
        }
        do throws(Errno) {
            try makeDirectory(name, in: target.descriptor, permissions: 0o700)
            try target.descend(into: name)
        } catch {
            throw .changingItem(error, targetPath)
        }
        try enter(path, targetPath)
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
