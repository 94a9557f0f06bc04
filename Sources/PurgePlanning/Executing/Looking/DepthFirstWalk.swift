import SystemCalls
import SystemPackage

/// The callbacks of a ``DepthFirstWalk``.
protocol DepthFirstVisitor {
    /// What a directory passes to its entries.
    associatedtype Context

    /// Called for each entry that is not a directory.
    mutating func visitItem(_ item: WalkedItem, in context: Context) throws(KeepReason)

    /// Called for each directory, opened for reading, before its entries.
    ///
    /// - Returns: the context of its entries; nil to skip the directory.
    mutating func enter(
        _ directory: FileDescriptor, _ item: WalkedItem, in context: Context
    ) throws(KeepReason) -> Context?

    /// Called for each directory that was entered, after its entries.
    mutating func leave(_ item: WalkedItem, _ identity: FileIdentity) throws(KeepReason)
}

/// A name in an open directory.
struct WalkedItem {
    let name: [UInt8]
    /// The directory, opened for reading.
    let directory: FileDescriptor
    /// The directory's path.
    let directoryPath: [UInt8]

    var location: DirectoryEntryLocation {
        DirectoryEntryLocation(directory: directory, name: FilePath(bytes: name))
    }

    func status() throws(KeepReason) -> FileStatus {
        try reaching { () throws(Errno) in try location.statusAtHand() }
    }
}

/// A depth-first walk through a directory by descriptor, on one thread: to any depth, with any
/// names, without following symbolic links or crossing mount points.
///
/// It keeps the names of the subdirectories of each directory on the way down, but only a few
/// descriptors: a directory whose descriptor was closed is opened again as `..` of the one below
/// it, and must be the same.
struct DepthFirstWalk<Visitor: DepthFirstVisitor> {
    private struct Level {
        let name: [UInt8]
        let identity: FileIdentity
        let context: Visitor.Context
        var opened: SharedDescriptor?
        var directories: [[UInt8]] = []
    }

    private var visitor: Visitor
    private var levels: [Level] = []
    private var path: [UInt8]
    private let openLimit = 64

    private init(_ visitor: Visitor, path: [UInt8]) {
        self.visitor = visitor
        self.path = path
    }

    /// Visits everything in a directory.
    ///
    /// - Parameters:
    ///   - top: the directory, opened with any flags.
    ///   - path: its path.
    ///   - context: the context of its entries.
    ///   - visitor: the visitor, with its final state on return, also when this throws.
    static func visit(
        _ top: FileDescriptor, path: [UInt8], context: Visitor.Context, _ visitor: inout Visitor
    ) throws(KeepReason) {
        var walk = DepthFirstWalk(visitor, path: path)
        defer { visitor = walk.visitor }
        let opened = SharedDescriptor(
            try reaching { () throws(Errno) in try openDirectoryToRead(".", in: top) })
        let status = try reaching { () throws(Errno) in try opened.descriptor.status() }
        try walk.push([], opened, status.identity, context)
        while !walk.levels.isEmpty { try walk.step() }
    }

    private mutating func step() throws(KeepReason) {
        let last = levels.count - 1
        guard let name = levels[last].directories.popLast() else { return try pop() }
        guard let directory = levels[last].opened else { throw .changed }
        let item = WalkedItem(
            name: name, directory: directory.descriptor, directoryPath: path)
        let opened = SharedDescriptor(
            try reaching { () throws(Errno) in
                try openDirectoryToRead(FilePath(bytes: name), in: directory.descriptor)
            })
        let identity = try reaching { () throws(Errno) in
            try opened.descriptor.status().identity
        }
        guard
            let context = try visitor.enter(opened.descriptor, item, in: levels[last].context)
        else { return }
        path.append(UInt8(ascii: "/"))
        path += name
        try push(name, opened, identity, context)
    }

    private mutating func push(
        _ name: [UInt8], _ opened: SharedDescriptor, _ identity: FileIdentity,
        _ context: Visitor.Context
    ) throws(KeepReason) {
        levels.append(Level(name: name, identity: identity, context: context, opened: opened))
        if levels.count > openLimit { levels[levels.count - 1 - openLimit].opened = nil }
        try read(opened.descriptor, context)
    }

    private mutating func read(
        _ directory: FileDescriptor, _ context: Visitor.Context
    ) throws(KeepReason) {
        var outcome: Result<Void, KeepReason> = .success(())
        var directories: [[UInt8]] = []
        try reaching { () throws(Errno) in
            try forEachEntry(inOpen: directory) { name, isDirectory in
                do throws(KeepReason) {
                    let item = WalkedItem(name: name, directory: directory, directoryPath: path)
                    let goesBelow: Bool
                    if let isDirectory {
                        goesBelow = isDirectory
                    } else {
                        goesBelow = try item.status().kind == .directory
                    }
                    if goesBelow {
                        directories.append(name)
                    } else {
                        try visitor.visitItem(item, in: context)
                    }
                    return true
                } catch {
                    outcome = .failure(error)
                    return false
                }
            }
        }
        try outcome.get()
        levels[levels.count - 1].directories = directories
    }

    private mutating func pop() throws(KeepReason) {
        let level = levels.removeLast()
        guard let last = levels.indices.last else { return }
        path.removeLast(level.name.count + 1)
        if levels[last].opened == nil, let below = level.opened {
            levels[last].opened = try openAgain(levels[last].identity, above: below.descriptor)
        }
        guard let directory = levels[last].opened else { throw .changed }
        let item = WalkedItem(
            name: level.name, directory: directory.descriptor, directoryPath: path)
        try visitor.leave(item, level.identity)
    }

    private func openAgain(
        _ identity: FileIdentity, above directory: FileDescriptor
    ) throws(KeepReason) -> SharedDescriptor {
        let opened = SharedDescriptor(
            try reaching { () throws(Errno) in
                try openFile(in: directory, "..", flags: [.readOnly, .directory, .nonBlocking])
            })
        let status = try reaching { () throws(Errno) in try opened.descriptor.status() }
        guard status.identity == identity else { throw .changed }
        return opened
    }
}

/// Opens a directory for reading, without following symbolic links or crossing mount points.
func openDirectoryToRead(
    _ name: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileDescriptor {
    try openBeneathUnnoticed(
        name, in: directory, flags: [.readOnly, .directory, .noFollow, .nonBlocking])
}
