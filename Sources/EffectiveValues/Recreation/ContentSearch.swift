import SystemCalls
import SystemPackage

/// Searches directories for what has content of its own: work trees of version control systems, and
/// other filesystems, which are not entered and may never answer.
///
/// Of directories in each other the outer is searched first, and its answer is used for the inner ones:
/// a tree is not read once for each of its levels.
final class ContentSearch: Sendable {
    private struct Known {
        /// The directories from those that were searched down to what was found.
        var uncertain: [FileIdentity: String] = [:]
        /// The real paths of the latest directories in which nothing was found.
        var clean: [FilePath] = []
    }

    private let known = Monitor(Known())
    private static let mostClean = 64

    /// Returns what may have content of its own, anywhere in a directory; nil if there is nothing.
    ///
    /// - Parameter path: the directory's real path.
    func content(in directory: OpenDirectory, at path: FilePath) throws(Errno) -> String? {
        let identity = try directory.status().identity
        let answer = known.withLock { known -> String?? in
            if let content = known.uncertain[identity] { return content }
            return known.clean.contains { path.isHeld(by: $0) } ? .some(nil) : nil
        }
        if let answer { return answer }
        let start = OpenDirectory(
            try openFile(in: directory.descriptor, ".", flags: [.readOnly, .directory, .noFollow]))
        var way = [identity]
        let content = try search(start, &way)
        known.withLock { known in
            if let content {
                for identity in way { known.uncertain[identity] = content }
            } else {
                known.clean.append(path)
                if known.clean.count > Self.mostClean { known.clean.removeFirst() }
            }
        }
        return content
    }

    /// - Parameter way: the directories down to the one that is read.
    private func search(
        _ start: OpenDirectory, _ way: inout [FileIdentity]
    ) throws(Errno) -> String? {
        var walk = DirectoryWalk(in: start, names: try start.names(), context: ())
        while let step = try walk.next() {
            guard case .entry(let name) = step else {
                way.removeLast()
                continue
            }
            if VersionControl.names.contains(name) { return "a work tree" }
            do throws(Errno) {
                let inner = try walk.directory.openBeneath(name, flags: .readOnly)
                let identity = try inner.status().identity
                walk.enter(inner, names: try inner.names(), context: ())
                way.append(identity)
            } catch .improperLink {
                return "another filesystem"
            } catch .notDirectory, .noSuchFileOrDirectory, .tooManySymbolicLinkLevels {
                continue
            }
        }
        return nil
    }
}
