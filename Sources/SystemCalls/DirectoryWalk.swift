import SystemPackage

/// A depth-first walk below an open directory on one thread: to any depth, with any names, with few
/// descriptors, and never through a symbolic link.
///
/// The caller decides where the walk goes down: it opens a directory that ``next()`` returned and
/// passes it to ``enter(_:names:context:)``. The names in the directories on the way down are in
/// memory, so entries may be added and removed during the walk.
package struct DirectoryWalk<Context> {
    package enum Step {
        case entry(FilePath)
        /// The end of an entry of ``DirectoryWalk/directory`` that was entered, with the context it
        /// was entered with.
        case end(FilePath, Context)
    }

    private struct Level {
        let name: FilePath
        let context: Context
        /// The length of the path of the directory above.
        let pathLength: Int
        var names: EntryNames
    }

    private var cursor: DirectoryCursor
    private var levels: [Level]
    private var entry: FilePath = ""
    package private(set) var path: [UInt8]

    package init(
        in directory: OpenDirectory, path: [UInt8] = [], names: EntryNames, context: Context
    ) {
        cursor = DirectoryCursor(directory)
        levels = [Level(name: "", context: context, pathLength: 0, names: names)]
        self.path = path
    }

    /// The directory of the step that was returned last, or the one that was entered since.
    package var directory: OpenDirectory { cursor.directory }

    package var context: Context { levels[levels.count - 1].context }

    /// The number of directories between ``directory`` and the one the walk began in: 0 in that
    /// one.
    package var depth: Int { levels.count - 1 }

    /// Returns the path of an entry of ``directory``, or of that itself for `.`.
    package func path(of name: FilePath) -> [UInt8] {
        if name == "." { return path }
        return path + (path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name.bytes
    }

    /// Takes the next step; nil at the end of the directory in which the walk began.
    ///
    /// - Throws: the errno of returning to a directory that was closed to save descriptors; `ESTALE`
    ///   when it was moved. ``path`` is then its path, and the walk can go on with the end of it.
    package mutating func next() throws(Errno) -> Step? {
        let last = levels.count - 1
        if let name = levels[last].names.next() {
            entry = name
            return .entry(name)
        }
        guard last > 0 else { return nil }
        let level = levels.removeLast()
        path.removeLast(path.count - level.pathLength)
        do throws(Errno) {
            try cursor.ascend()
        } catch {
            levels[last - 1].names = EntryNames()
            throw error
        }
        return .end(level.name, level.context)
    }

    /// Goes down into the entry that was returned last.
    package mutating func enter(
        _ directory: OpenDirectory, names: EntryNames, context: Context
    ) {
        cursor.descend(into: directory, named: entry)
        levels.append(
            Level(name: entry, context: context, pathLength: path.count, names: names))
        if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
        path += entry.bytes
    }
}

/// A position in a tree that moves down and up, to any depth, with few descriptors.
///
/// Of the directories on the way down only the first and the last ones stay open. Any other is
/// opened again as `..` of the one below it or, when that one was moved, by name from above, and
/// must be the same.
package struct DirectoryCursor {
    private struct Ancestor {
        let child: FilePath
        var state: State

        enum State {
            case open(OpenDirectory)
            case closed(FileIdentity)
        }
    }

    package private(set) var directory: OpenDirectory
    private var ancestors: [Ancestor] = []
    private static let openLimit = 16

    package init(_ directory: OpenDirectory) { self.directory = directory }

    package mutating func descend(into child: OpenDirectory, named name: FilePath) {
        ancestors.append(Ancestor(child: name, state: .open(directory)))
        directory = child
        let oldest = ancestors.count - Self.openLimit
        // One that is not known again has to stay open.
        if oldest > 0, case .open(let ancestor) = ancestors[oldest].state,
            let identity = try? ancestor.status().identity
        {
            ancestors[oldest].state = .closed(identity)
        }
    }

    /// Moves back up.
    ///
    /// - Throws: the errno of opening the directory above; `ESTALE` when another has its name. The
    ///   cursor may then move farther up.
    package mutating func ascend() throws(Errno) {
        switch ancestors.popLast()?.state {
        case nil: throw .invalidArgument
        case .open(let parent): directory = parent
        case .closed(let identity):
            do throws(Errno) {
                directory = try checked(directory.openParent(), identity)
            } catch {
                directory = try checked(openFromAbove(), identity)
            }
        }
    }

    /// Opens the directory below the last ancestor by name, from the last one that is open.
    private func openFromAbove() throws(Errno) -> OpenDirectory {
        var names: [FilePath] = []
        for ancestor in ancestors.reversed() {
            names.append(ancestor.child)
            guard case .open(var directory) = ancestor.state else { continue }
            for name in names.reversed() { directory = try directory.openDirectory(name) }
            return directory
        }
        throw .staleNFSFileHandle
    }

    private func checked(
        _ directory: OpenDirectory, _ identity: FileIdentity
    ) throws(Errno) -> OpenDirectory {
        guard try directory.status().identity == identity else { throw .staleNFSFileHandle }
        return directory
    }
}
