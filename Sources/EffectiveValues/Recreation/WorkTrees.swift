import SystemCalls
import SystemPackage

/// The work trees of version control systems around directories, and what git tracks in them.
///
/// Git is asked once for each work tree. What it reads there was written by others: it runs with
/// options that keep the settings of a work tree from starting a program, and only in work trees of
/// the user who runs this process.
package final class WorkTrees: Sendable {
    /// What is known about an item.
    package enum Tracking: Sendable, Hashable {
        case untracked
        case tracked
        /// It cannot be asked, for a reason in words.
        case unknown(String)
    }

    /// The names of the items about which is asked.
    private let names: Set<[UInt8]>
    private let git: GitCommand
    /// The work trees around each directory whose surroundings are known, by its real path.
    private let around: Monitor<[FilePath: [WorkTree]]> = Monitor([:])

    /// Creates work trees without reading anything.
    ///
    /// - Parameter names: the names of the items about which is asked.
    init(askedAbout names: Set<[UInt8]>, _ git: GitCommand) {
        self.names = names
        self.git = git
    }

    /// Creates work trees that the `git` in `PATH` is asked about, as the other initializer does.
    package convenience init(askedAbout names: Set<[UInt8]>) {
        self.init(askedAbout: names, GitCommand())
    }

    /// Returns whether anything in a directory is tracked.
    ///
    /// - Parameters:
    ///   - path: the directory's real path.
    ///   - directory: the directory, open as a reference.
    /// - Throws: the errno of looking at a directory above.
    func tracking(of path: FilePath, _ directory: OpenDirectory) throws(Errno) -> Tracking {
        // What is a repository itself has content of its own, which only its owner knows.
        if try VersionControl(in: directory) != nil { return .tracked }
        let parent = OpenDirectory(
            try openFile(in: directory.descriptor, "..", flags: [.reference, .directory]))
        return try tracking(of: path, in: parent)
    }

    /// Returns whether an item, or anything in it, is tracked in a work tree around it. What is itself
    /// the top of a work tree is tracked only as a submodule.
    ///
    /// - Parameters:
    ///   - path: the item's real path.
    ///   - parent: the directory that contains it, open as a reference.
    /// - Throws: the errno of looking at a directory above.
    package func tracking(
        of path: FilePath, in parent: OpenDirectory
    ) throws(Errno) -> Tracking {
        for tree in try trees(around: path.removingLastComponent(), parent) {
            let answer = tree.tracking(of: path, in: parent, names, git)
            if answer != .untracked { return answer }
        }
        return .untracked
    }

    /// Returns the work trees that a directory is, or is in.
    private func trees(
        around path: FilePath, _ directory: OpenDirectory
    ) throws(Errno) -> [WorkTree] {
        var (path, directory) = (path, directory)
        var unknown: [(path: FilePath, tree: WorkTree?)] = []
        var trees: [WorkTree] = []
        while true {
            if let known = around.withLock({ $0[path] }) {
                trees = known
                break
            }
            let system = try VersionControl(in: directory)
            var tree: WorkTree?
            if let system { tree = WorkTree(path, try directory.status().identity, system) }
            unknown.append((path, tree))
            guard path.lastComponent != nil else { break }
            directory = OpenDirectory(
                try openFile(in: directory.descriptor, "..", flags: [.reference, .directory]))
            path.removeLastComponent()
        }
        for (path, tree) in unknown.reversed() {
            if let tree { trees.append(tree) }
            let found = trees
            // Another thread may have found the same, and asked already.
            trees = around.withLock { around in
                let known = around[path] ?? found
                around[path] = known
                return known
            }
        }
        return trees
    }
}

/// A version control system that keeps a directory's content.
enum VersionControl: Sendable, Hashable {
    case git
    /// Another system, by the name of what shows it.
    case other(String)

    private static let others: [String] = [
        ".hg", ".svn", ".jj", ".sl", ".bzr", "_darcs", ".pijul", ".fslckout", "_FOSSIL_", "CVS",
    ]

    /// The names that show a system.
    static let names = Set(([".git"] + others).map { FilePath($0) })

    /// Finds the system whose work tree begins in a directory; nil if there is none.
    ///
    /// - Throws: the errno of looking.
    init?(in directory: OpenDirectory) throws(Errno) {
        func exists(_ name: String) throws(Errno) -> Bool {
            do throws(Errno) {
                _ = try directory.status(of: FilePath(name))
                return true
            } catch .noSuchFileOrDirectory {
                return false
            }
        }
        if try exists(".git") {
            self = .git
            return
        }
        for name in Self.others where try exists(name) {
            self = .other(name)
            return
        }
        return nil
    }
}

extension OpenDirectory {
    /// Returns what may have content of its own, anywhere in the directory: the work tree of a version
    /// control system, a file that no tool makes again, or another filesystem, which is not entered and
    /// may never answer. nil if there is none.
    ///
    /// - Parameters:
    ///   - passed: the names of directories that are not looked into.
    ///   - isPrecious: whether no tool makes files of a name again.
    func uncertainContent(
        notIn passed: Set<[UInt8]> = [], isPrecious: ([UInt8]) -> Bool = { _ in false }
    ) throws(Errno) -> String? {
        let start = OpenDirectory(
            try openFile(in: descriptor, ".", flags: [.readOnly, .directory, .noFollow]))
        var walk = DirectoryWalk(in: start, names: try start.names(), context: ())
        while let step = try walk.next() {
            guard case .entry(let name) = step else { continue }
            if VersionControl.names.contains(name) { return "a work tree" }
            if passed.contains(name.bytes) { continue }
            do throws(Errno) {
                let inner = try walk.directory.openBeneath(name, flags: .readOnly)
                walk.enter(inner, names: try inner.names(), context: ())
            } catch .improperLink {
                return "another filesystem"
            } catch .notDirectory {
                if isPrecious(name.bytes) {
                    return "\(NameEscaping.text(name.bytes)), which no tool makes again,"
                }
            } catch .noSuchFileOrDirectory, .tooManySymbolicLinkLevels {
                continue
            }
        }
        return nil
    }
}

/// A work tree. It is not kept open: there may be any number of them.
private final class WorkTree: Sendable {
    private let path: FilePath
    private let identity: FileIdentity
    private let system: VersionControl
    /// The paths below the work tree of the items with one of the names that git tracks, or
    /// why it cannot be asked; nil before it was.
    private let answer: Monitor<Result<Set<[UInt8]>, GitFailure>?> = Monitor(nil)

    init(_ path: FilePath, _ identity: FileIdentity, _ system: VersionControl) {
        self.path = path
        self.identity = identity
        self.system = system
    }

    /// - Parameter parent: the directory that contains the item, open as a reference.
    func tracking(
        of path: FilePath, in parent: OpenDirectory, _ names: Set<[UInt8]>, _ git: GitCommand
    ) -> WorkTrees.Tracking {
        if case .other(let name) = system {
            return .unknown("it may be tracked: \(name) is above it, and only git is asked")
        }
        let answer = answer.withLock { answer in
            let known = answer ?? tracked(from: path, parent, names, git)
            answer = known
            return known
        }
        switch answer {
        case .failure(let failure):
            return .unknown("whether it is tracked is unknown: \(failure.reason)")
        case .success(let tracked):
            guard path.starts(with: self.path) else {
                return .unknown("whether it is tracked is unknown: \(Self.moved.reason)")
            }
            let inside = path.names.dropFirst(self.path.names.count)
            return tracked.contains(Array(inside.joined(separator: [UInt8(ascii: "/")])))
                ? .tracked : .untracked
        }
    }

    private static let moved = GitFailure(reason: "it was moved meanwhile")

    /// Asks git.
    ///
    /// - Parameters:
    ///   - path: the path of an item in the work tree.
    ///   - parent: the directory that contains the item.
    private func tracked(
        from path: FilePath, _ parent: OpenDirectory, _ names: Set<[UInt8]>, _ git: GitCommand
    ) -> Result<Set<[UInt8]>, GitFailure> {
        guard let directory = open(from: path, parent) else { return .failure(Self.moved) }
        var tracked: Set<[UInt8]> = []
        do throws(GitFailure) {
            try git.run(.tracked, in: directory) { path in
                var end = path.startIndex
                while end < path.endIndex {
                    let start = end
                    end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
                    if names.contains(Array(path[start..<end])) {
                        tracked.insert(Array(path[..<end]))
                    }
                    if end < path.endIndex { end += 1 }
                }
            }
            return .success(tracked)
        } catch {
            return .failure(error)
        }
    }

    /// Opens the work tree as a reference, up from a directory in it; nil when it is not there.
    private func open(from path: FilePath, _ parent: OpenDirectory) -> OpenDirectory? {
        var directory = parent
        do throws(Errno) {
            for _ in 0..<max(path.names.count - self.path.names.count - 1, 0) {
                directory = OpenDirectory(
                    try openFile(
                        in: directory.descriptor, "..", flags: [.reference, .directory]))
            }
            return try directory.status().identity == identity ? directory : nil
        } catch {
            return nil
        }
    }
}
