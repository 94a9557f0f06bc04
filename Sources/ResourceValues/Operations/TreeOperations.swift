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
    /// What was copied, where the originals are to be removed.
    private(set) var copied: CopiedItems

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
        copied = CopiedItems(status)
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
            note(
                try copyFile(
                    input.descriptor.named(path), to: output.descriptor.named(targetPath),
                    unstorable))
        case .symbolicLink:
            note(try copyLink(source, to: copy))
        default:
            throw unsupportedKind(path)
        }
    }

    private mutating func note(_ status: FileStatus) {
        if unstorable == .refused { copied.add(status) }
    }

    private mutating func descend(
        into source: DirectoryEntry, _ copy: DirectoryEntry
    ) throws(FileError) {
        let directory = try source.openDirectory()
        if unstorable == .refused { try requireNoMount(on: directory, source) }
        try calls(on: copy.path) { () throws(Errno) in
            try makeDirectory(copy.name, in: copy.directory, permissions: 0o700)
            target.descend(into: try copy.parent.openDirectory(copy.name), named: copy.name)
        }
        let (status, names) = try begin(
            directory, target.directory, (source.path, copy.path), unstorable,
            notIn: targetRoot)
        note(status)
        walk.enter(directory, names: names, context: status)
    }
}

/// The items that were copied, each in the state it had before that.
package struct CopiedItems {
    private struct State {
        let size: Int64
        let content: FileTime
        /// The time of the last change of attributes; nil for a file of several names, which changes
        /// when one of them is removed.
        let attributes: FileTime?

        init(_ status: FileStatus) {
            size = status.size
            content = status.contentModificationTime
            attributes =
                status.kind == .directory || status.linkCount == 1
                ? status.attributeModificationTime : nil
        }
    }

    private var states: [FileIdentity: State]

    init(_ first: FileStatus) { states = [first.identity: State(first)] }

    mutating func add(_ status: FileStatus) { states[status.identity] = State(status) }

    /// Whether an item was copied and has not changed since.
    func contains(_ status: FileStatus) -> Bool {
        guard let state = states[status.identity] else { return false }
        return state.size == status.size && state.content == status.contentModificationTime
            && (state.attributes ?? status.attributeModificationTime)
                == status.attributeModificationTime
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
///
/// - Returns: the status of the original before it was read.
func copyFile(
    _ source: NamedDescriptor, to target: NamedDescriptor, _ unstorable: UnstorableAttributes
) throws(FileError) -> FileStatus {
    let status = try source.fileStatus()
    guard status.kind == .regularFile else {
        throw unsupportedKind(source.pathForMessages)
    }
    try copyUserAttributes(from: source, to: target, unstorable: unstorable)
    try calls(on: target.pathForMessages) { () throws(Errno) in
        try copyContent(from: source.descriptor, size: status.size, to: target.descriptor)
        try target.descriptor.finishCopy(of: status)
    }
    return status
}

/// Creates a copy of a symbolic link.
///
/// - Returns: the status of the original before it was read.
func copyLink(_ source: DirectoryEntry, to copy: DirectoryEntry) throws(FileError) -> FileStatus {
    let status = try source.fileStatus()
    try calls(on: copy.path) { () throws(Errno) in
        let target = try symbolicLinkTarget(source)
        try makeSymbolicLink(copy.name, in: copy.directory, to: target)
    }
    return status
}

func unsupportedKind(_ path: FilePath?) -> FileError {
    FileError(
        code: .unsupportedFileKind,
        message: "only regular files, directories and symbolic links can be copied or written",
        path: path)
}

/// Removes an item and its contents, by name and without following links.
///
/// - Parameter copied: where the item was moved by copying it, what may be removed.
/// - Throws: the first errno; what was not removed before then stays. `EBUSY` for a directory on which a
///   filesystem is mounted, and `ESTALE` for an item that was not copied, or has changed since.
package func removeTree(
    _ name: FilePath, in directory: OpenDirectory, ifIn copied: CopiedItems? = nil
) throws(Errno) {
    var walk = DirectoryWalk(in: directory, names: EntryNames([name.bytes]), context: ())
    while let step = try walk.next() {
        switch step {
        case .entry(let name):
            let status = try walk.directory.status(of: name)
            guard status.kind == .directory else {
                if copied?.contains(status) == false { throw .staleNFSFileHandle }
                try walk.directory.remove(name)
                continue
            }
            let entered = try walk.directory.openDirectory(name)
            let found = try entered.status()
            if try isMountRoot(found, in: walk.directory) { throw .resourceBusy }
            if copied?.contains(found) == false { throw .staleNFSFileHandle }
            // Makes the directory writable so that its entries can be removed. Another user's
            // directory cannot be changed, but may permit removal.
            try? changeMode(0o700, of: entered.descriptor)
            walk.enter(entered, names: try entered.names(), context: ())
        case .end(let name, _):
            try walk.directory.remove(name, isDirectory: true)
        }
    }
}

private func isMountRoot(
    _ status: FileStatus, in parent: OpenDirectory
) throws(Errno) -> Bool {
    if let isMountRoot = status.isMountRoot { return isMountRoot }
    return try status.identity.device != parent.status().identity.device
}

/// - Throws: ``FileError`` `EBUSY` where a filesystem is mounted on a directory: removing what is moved would
///   empty it.
func requireNoMount(
    on directory: OpenDirectory, _ entry: DirectoryEntry
) throws(FileError) {
    let isMounted = try calls(on: entry.path) { () throws(Errno) in
        try isMountRoot(directory.status(), in: entry.parent)
    }
    if isMounted { throw .mounted(on: entry.path) }
}

/// - Throws: ``FileError`` `EBUSY` where a filesystem is mounted on a directory of the item, or on itself.
func requireNoMounts(in entry: DirectoryEntry) throws(FileError) {
    var walk = DirectoryWalk(
        in: entry.parent, path: entry.path.removingLastComponent().bytes,
        names: EntryNames([entry.name.bytes]), context: ())
    var mount: FilePath?
    try calls(on: entry.path) { () throws(Errno) in
        while mount == nil, let step = try walk.next() {
            // One that cannot be opened is looked at again before it is entered to remove it.
            guard case .entry(let name) = step,
                try walk.directory.status(of: name).kind == .directory,
                let directory = try? walk.directory.openDirectory(name),
                let names = try? directory.names()
            else { continue }
            if try isMountRoot(directory.status(), in: walk.directory) {
                mount = FilePath(bytes: walk.path(of: name))
            }
            walk.enter(directory, names: names, context: ())
        }
    }
    if let mount { throw .mounted(on: mount) }
}

extension FileError {
    fileprivate static func mounted(on path: FilePath) -> FileError {
        FileError(
            code: .other, message: "a filesystem is mounted on it", advice: "first: umount",
            path: path, errno: .resourceBusy)
    }
}
