import StoragePolicy
import SystemCalls
import SystemPackage

/// The items that git ignores in the work trees that were met.
///
/// A work tree is asked about when its first directory is met, which is before anything in it.
final class IgnoredItems: Sendable {
    private struct Found {
        var workTrees: Set<FileIdentity> = []
        /// Why git gave no answer about a work tree.
        var failures: [FileIdentity: String] = [:]
        /// The real paths of the ignored items. An inode can be met under other paths, too.
        var paths: [FileIdentity: Set<FilePath>] = [:]
    }

    private let rules: RecreationRules
    private let git: GitCommand
    private let contents = ContentSearch()
    private let found: Monitor<Found> = Monitor(Found())

    /// - Parameter rules: know the homes.
    init(_ rules: RecreationRules, _ git: GitCommand) {
        self.rules = rules
        self.git = git
    }

    /// Adds the mark of an item that is ignored.
    func read(
        _ location: borrowing some FileLocation & ~Copyable, _ kind: FileKind,
        _ status: FileStatus?, into marks: inout ForeignMarks
    ) throws(Errno) {
        let known: FileStatus
        if let status { known = status } else { known = try location.status() }
        if known.kind == .directory {
            let directory = OpenDirectory(
                try openFile(location, flags: [.reference, .directory, .noFollow]))
            if try directory.statusIfPresent(of: ".git") != nil {
                // What is a work tree has tracked files: one around it does not exclude it.
                marks.uncertain[.gitignore] = try failure(of: directory, known.identity)
                return
            }
        }
        guard let paths = found.withLock({ $0.paths[known.identity] }) else { return }
        let item = OwnedDescriptor(try openFile(location, flags: [.reference, .noFollow]))
        let path = try realPath(ofOpen: item.descriptor)
        guard try item.descriptor.status().identity == known.identity, paths.contains(path)
        else { return }
        if known.kind == .directory,
            let content = try contents.content(
                in: OpenDirectory(item.release()), at: path, asking: .workTrees)
        {
            marks.uncertain[.gitignore] = "\(content) is in it, with files of its own"
        } else {
            marks.excluding.insert(.gitignore)
        }
    }

    /// Asks about a work tree, unless that was done.
    ///
    /// - Returns: why git gave no answer; nil if it did.
    private func failure(
        of directory: OpenDirectory, _ identity: FileIdentity
    ) throws(Errno) -> String? {
        let path = try realPath(ofOpen: directory.descriptor)
        let rules = rules
        // Nothing in the work tree is looked at before the answer is known.
        return found.withLock { found in
            guard found.workTrees.insert(identity).inserted else { return found.failures[identity] }
            // A home whose settings are in git ignores everything else.
            guard !rules.holdsHome(path.names.map { Array($0) }) else {
                found.failures[identity] = "the work tree is a home, or a home is in it"
                return found.failures[identity]
            }
            do throws(GitFailure) {
                // An answer that does not end well does not count.
                var paths: [(FileIdentity, FilePath)] = []
                try git.run(.ignored, in: directory) { ignored in
                    let name = ignored.last == UInt8(ascii: "/") ? ignored.dropLast() : ignored
                    let item = directory.location(of: FilePath(bytes: name))
                    // An item that was removed or cannot be reached is not met either.
                    guard let status = try? item.status() else { return }
                    paths.append((status.identity, path.pushing(item.name)))
                }
                for (identity, path) in paths { found.paths[identity, default: []].insert(path) }
            } catch {
                found.failures[identity] = error.reason
            }
            return found.failures[identity]
        }
    }
}
