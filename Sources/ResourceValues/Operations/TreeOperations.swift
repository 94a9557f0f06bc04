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
    private let unstorable: UnstorableAttributes
    private let shouldCopy: (FilePath, FilePath) -> Bool

    /// - Parameters:
    ///   - source: a directory, open for reading.
    ///   - target: an empty directory, open for reading.
    ///   - paths: the paths of both, for messages and for `shouldCopy`.
    ///   - unstorable: what happens to attributes of other programs that cannot be stored.
    init(
        _ source: OpenDirectory, _ target: OpenDirectory, paths: (FilePath, FilePath),
        _ unstorable: UnstorableAttributes, shouldCopy: @escaping (FilePath, FilePath) -> Bool
    ) throws(FileError) {
        targetRoot = try target.descriptor.named(paths.1).fileStatus().identity
        let (status, names) = try begin(source, target, paths, unstorable, notIn: targetRoot)
        walk = DirectoryWalk(in: source, path: paths.0.bytes, names: names, context: status)
        self.target = DirectoryCursor(target)
        self.paths = paths
        self.unstorable = unstorable
        self.shouldCopy = shouldCopy
    }

    /// Copies everything, and sets each directory's mode and times after copying its contents.
    mutating func run() throws(FileError) {
        while let step = try next() {
            switch step {
            case .entry(let name):
                try copy(name)
            case .end(let name, let status):
                try calls(on: FilePath(bytes: walk.path(of: name))) { () throws(Errno) in
                    try target.directory.descriptor.finishCopy(of: status)
                    try target.ascend()
                }
            }
        }
        try calls(on: paths.0) { () throws(Errno) in
            try target.directory.descriptor.finishCopy(of: walk.context)
        }
    }

    private mutating func next() throws(FileError) -> DirectoryWalk<FileStatus>.Step? {
        return try calls(on: FilePath(bytes: walk.path)) { () throws(Errno) in
            try walk.next()
        }
    }

    private mutating func copy(_ name: FilePath) throws(FileError) {
        let bytes = walk.path(of: name)
        let path = FilePath(bytes: bytes)
        let targetPath = FilePath(bytes: paths.1.bytes + bytes.dropFirst(paths.0.length))
        guard shouldCopy(path, targetPath) else { return }
        let source = DirectoryEntry(name, in: walk.directory, path: path)
        let copy = DirectoryEntry(name, in: target.directory, path: targetPath)
        switch try source.fileStatus().kind {
        case .directory:
            try descend(into: source, copy)
        case .regularFile:
            let input = try source.openForReading()
            let output = try copy.makeFile()
            defer {
                withExtendedLifetime(input) {}
                withExtendedLifetime(output) {}
            }
            try copyFile(
                input.descriptor.named(path), to: output.descriptor.named(targetPath), unstorable)
        case .symbolicLink:
            try copyLink(source, to: copy)
        default:
            throw unsupportedKind(path)
        }
    }

    private mutating func descend(
        into source: DirectoryEntry, _ copy: DirectoryEntry
    ) throws(FileError) {
        let directory = try source.openDirectory()
        try calls(on: copy.path) { () throws(Errno) in
            try makeDirectory(copy.name, in: copy.directory, permissions: 0o700)
            target.descend(into: try copy.parent.openDirectory(copy.name), named: copy.name)
        }
        let (status, names) = try begin(
            directory, target.directory, (source.path, copy.path), unstorable,
            notIn: targetRoot)
        walk.enter(directory, names: names, context: status)
    }
}

/// Copies a directory's attributes.
///
/// - Parameter root: the directory that everything is copied into. A copy inside its own source
///   would never end, so it is an error to meet it.
/// - Returns: the status of the directory, and the names in it.
private func begin(
    _ source: OpenDirectory, _ target: OpenDirectory, _ paths: (FilePath, FilePath),
    _ unstorable: UnstorableAttributes, notIn root: FileIdentity
) throws(FileError) -> (FileStatus, EntryNames) {
    let file = source.descriptor.named(paths.0)
    let status = try file.fileStatus()
    guard status.identity != root else { throw FileError(.invalidArgument, of: paths.0) }
    try copyUserAttributes(
        from: file, to: target.descriptor.named(paths.1), unstorable: unstorable)
    return try calls(on: paths.0, FileError.readingDirectory) { () throws(Errno) in
        (status, try source.names())
    }
}

/// Copies attributes, content, mode and times from one open file to an empty one.
///
/// Attributes are copied first, so that the content is never visible without its marks.
func copyFile(
    _ source: NamedDescriptor, to target: NamedDescriptor, _ unstorable: UnstorableAttributes
) throws(FileError) {
    let status = try source.fileStatus()
    guard status.kind == .regularFile else {
        throw unsupportedKind(source.pathForMessages)
    }
    try copyUserAttributes(from: source, to: target, unstorable: unstorable)
    try calls(on: target.pathForMessages) { () throws(Errno) in
        try copyContent(from: source.descriptor, size: status.size, to: target.descriptor)
        try target.descriptor.finishCopy(of: status)
    }
}

/// Creates a copy of a symbolic link.
func copyLink(_ source: DirectoryEntry, to copy: DirectoryEntry) throws(FileError) {
    try calls(on: copy.path) { () throws(Errno) in
        let target = try symbolicLinkTarget(source)
        try makeSymbolicLink(copy.name, in: copy.directory, to: target)
    }
}

func unsupportedKind(_ path: FilePath?) -> FileError {
    FileError(
        code: .unsupportedFileKind,
        message: "only regular files, directories and symbolic links can be copied or written",
        path: path)
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
