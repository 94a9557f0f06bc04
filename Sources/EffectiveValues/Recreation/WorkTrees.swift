import SystemCalls
import SystemPackage

/// The work trees of version control systems around directories, and what git tracks in them.
///
/// Git is asked once for each work tree. What it reads there was written by others: it runs with
/// options that keep the settings of a work tree from starting a program, and only in work trees of
/// the user who runs this process.
package final class WorkTrees: Sendable {
    package enum Tracking: Sendable, Hashable {
        case untracked
        case tracked
        /// It cannot be asked, for a reason in words.
        case unknown(String)
    }

    private let homes: Set<FilePath>
    private let git: GitCommand
    /// The work trees around each directory whose surroundings are known, by its real path.
    private let around: Monitor<[FilePath: [WorkTree]]> = Monitor([:])

    /// Creates work trees without reading anything.
    ///
    /// - Parameter homes: real paths, each of which can be the work tree of a repository in it.
    init(homes: [FilePath], _ git: GitCommand) {
        self.homes = Set(homes)
        self.git = git
    }

    /// Returns whether anything in a directory is tracked.
    ///
    /// - Parameters:
    ///   - path: the directory's real path.
    ///   - directory: the directory, open as a reference.
    func tracking(of path: FilePath, _ directory: OpenDirectory) throws(Errno) -> Tracking {
        // What is a repository itself has content of its own, which only its owner knows.
        if try VersionControl(in: directory) != nil { return .tracked }
        return try tracking(of: path, in: directory.openParent(flags: .reference))
    }

    /// Returns whether an item, or anything in it, is tracked in a work tree around it. What is itself
    /// the top of a work tree is tracked only as a submodule.
    ///
    /// - Parameters:
    ///   - path: the item's real path.
    ///   - parent: the directory that contains it, open as a reference.
    package func tracking(
        of path: FilePath, in parent: OpenDirectory
    ) throws(Errno) -> Tracking {
        for tree in try trees(around: path.removingLastComponent(), parent) {
            let answer = tree.tracking(of: path, in: parent, git)
            if answer != .untracked { return answer }
        }
        return .untracked
    }

    private func trees(
        around path: FilePath, _ directory: OpenDirectory
    ) throws(Errno) -> [WorkTree] {
        var (path, directory) = (path, directory)
        var unknown: [(path: FilePath, trees: [WorkTree])] = []
        var trees: [WorkTree] = []
        while true {
            if let known = around.withLock({ $0[path] }) {
                trees = known
                break
            }
            var systems = try VersionControl(in: directory).map { [$0] } ?? []
            if homes.contains(path) { systems += try VersionControl.ofDotfiles(in: directory) }
            var found: [WorkTree] = []
            for system in systems {
                found.append(WorkTree(path, try directory.status().identity, system))
            }
            unknown.append((path, found))
            guard path.lastComponent != nil else { break }
            directory = try directory.openParent(flags: .reference)
            path.removeLastComponent()
        }
        for (path, inner) in unknown.reversed() {
            trees += inner
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
    /// The path of the repository, from the top of the work tree.
    case git(FilePath)
    /// Another system, by the name of what shows it.
    case other(String)

    private static let others: [String] = [
        ".hg", ".svn", ".jj", ".sl", ".bzr", "_darcs", ".pijul", ".fslckout", "_FOSSIL_", "CVS",
    ]

    static let names = Set(([".git"] + others).map { FilePath($0) })

    /// Finds the system whose work tree begins in a directory; nil if there is none.
    init?(in directory: OpenDirectory) throws(Errno) {
        if try directory.statusIfPresent(of: ".git") != nil {
            self = .git(".git")
            return
        }
        for name in Self.others where try directory.statusIfPresent(of: FilePath(name)) != nil {
            self = .other(name)
            return
        }
        return nil
    }

    /// Finds the repositories in a home that have it as their work tree: those of dotfiles, as
    /// `git init --bare ~/.dotfiles`, yadm and vcsh make them. Such a one has an index, which bare
    /// repositories otherwise do not.
    ///
    /// - Throws: the errno of looking into the home.
    static func ofDotfiles(in home: OpenDirectory) throws(Errno) -> [VersionControl] {
        var found: [VersionControl] = []
        for place in dotfilesPlaces {
            do throws(Errno) {
                let directory = try home.openBeneath(place, flags: .readOnly)
                let device = try directory.status().identity.device
                for name in try directory.names() where name != ".git" {
                    // One on another filesystem, which may never answer, or that this user cannot
                    // look into, is none. What an automounter would mount is not opened.
                    let status = try? directory.location(of: name).statusAtHand()
                    guard status?.kind == .directory, status?.isMountRoot == false,
                        status?.identity.device == device
                    else { continue }
                    let entry = try? directory.openBeneath(name, flags: .reference)
                    let parts: [FilePath] = ["HEAD", "index", "objects"]
                    if parts.allSatisfy({ (try? entry?.status(of: $0)) != nil }) {
                        found.append(.git(place.pushing(name)))
                    }
                }
            } catch .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
                .improperLink, .permissionDenied, .notPermitted
            {
                // Where the user of the home cannot look, that user keeps no repository.
                continue
            }
        }
        return found
    }

    private static let dotfilesPlaces: [FilePath] = [
        ".", ".config", ".local/share", ".local/share/yadm", ".config/yadm", ".yadm",
        ".config/vcsh/repo.d",
    ]
}

/// A work tree. It is not kept open: there may be any number of them.
private final class WorkTree: Sendable {
    private let path: FilePath
    private let identity: FileIdentity
    private let system: VersionControl
    /// The paths below the work tree of what git tracks and of the directories around that, or why
    /// it cannot be asked; nil before it was.
    ///
    /// A path is known by its hash, so that a deep one takes no memory for each of its names: where
    /// two have the same, an item counts as tracked.
    private let answer: Monitor<Result<Set<UInt64>, GitFailure>?> = Monitor(nil)

    init(_ path: FilePath, _ identity: FileIdentity, _ system: VersionControl) {
        self.path = path
        self.identity = identity
        self.system = system
    }

    /// - Parameter parent: the directory that contains the item, open as a reference.
    func tracking(
        of path: FilePath, in parent: OpenDirectory, _ git: GitCommand
    ) -> WorkTrees.Tracking {
        let repository: FilePath
        switch system {
        case .git(let path): repository = path
        case .other(let name):
            return .unknown("it may be tracked: \(name) is above it, and only git is asked")
        }
        let answer = answer.withLock { answer in
            let known = answer ?? tracked(in: repository, from: path, parent, git)
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
            let bytes = Array(inside.joined(separator: [UInt8(ascii: "/")]))
            return tracked.contains(stableHash(of: bytes)) ? .tracked : .untracked
        }
    }

    private static let moved = GitFailure(reason: "it was moved meanwhile")

    private func tracked(
        in repository: FilePath, from path: FilePath, _ parent: OpenDirectory, _ git: GitCommand
    ) -> Result<Set<UInt64>, GitFailure> {
        guard let directory = open(from: path, parent) else { return .failure(Self.moved) }
        var tracked: Set<UInt64> = []
        do throws(GitFailure) {
            try git.run(.tracked, in: directory, repository) { path in
                var (start, hash) = (path.startIndex, stableHash(of: []))
                while start < path.endIndex {
                    let end = path[start...].firstIndex(of: slash) ?? path.endIndex
                    hash = stableHash(of: path[start..<end], after: hash)
                    tracked.insert(hash)
                    hash = stableHash(of: [slash], after: hash)
                    start = end + 1
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
                directory = try directory.openParent(flags: .reference)
            }
            return try directory.status().identity == identity ? directory : nil
        } catch {
            return nil
        }
    }
}

private let slash = UInt8(ascii: "/")
