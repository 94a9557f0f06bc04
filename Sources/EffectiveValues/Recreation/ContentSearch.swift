import SystemCalls
import SystemPackage

/// Searches directories for what has content of its own: work trees of version control systems, files
/// that no tool makes again, and other filesystems, which are not entered and may never answer.
///
/// Of directories in each other the outer is searched first, and its answer is used for the inner ones:
/// a tree is not read once for each of its levels.
final class ContentSearch: Sendable {
    /// What is looked for. The answer to one question says nothing about another.
    struct Question: Sendable, Hashable {
        /// Looks for work trees and other filesystems everywhere.
        static let workTrees = Question(passed: [], asksForPreciousFiles: false)

        /// The names of directories that are not looked into.
        let passed: Set<[UInt8]>
        /// Whether files that no tool makes again are looked for.
        let asksForPreciousFiles: Bool
    }

    private struct Known {
        /// The directories from those that were searched down to what was found.
        var uncertain: [FileIdentity: String] = [:]
        /// The real paths of the latest directories in which nothing was found.
        var clean: [FilePath] = []
    }

    private let known = Monitor<[Question: Known]>([:])
    private static let mostClean = 64

    /// Returns what may have content of its own, anywhere in a directory; nil if there is nothing.
    ///
    /// - Parameters:
    ///   - path: the directory's real path.
    ///   - isPrecious: whether no tool makes files of a name again.
    func content(
        in directory: OpenDirectory, at path: FilePath, asking question: Question,
        isPrecious: ([UInt8]) -> Bool = { _ in false }
    ) throws(Errno) -> String? {
        let identity = try directory.status().identity
        let answer = known.withLock { all -> String?? in
            guard let known = all[question] else { return nil }
            if let content = known.uncertain[identity] { return content }
            return known.clean.contains { path.isHeld(by: $0) } ? .some(nil) : nil
        }
        if let answer { return answer }
        let start = try directory.openDirectory(".")
        var way = [identity]
        let content = try search(start, &way, question) {
            question.asksForPreciousFiles && isPrecious($0)
        }
        known.withLock { all in
            if let content {
                for identity in way {
                    all[question, default: Known()].uncertain[identity] = content
                }
            } else {
                var clean = all[question]?.clean ?? []
                clean.append(path)
                if clean.count > Self.mostClean { clean.removeFirst() }
                all[question, default: Known()].clean = clean
            }
        }
        return content
    }

    /// - Parameter way: the directories down to the one that is read.
    private func search(
        _ start: OpenDirectory, _ way: inout [FileIdentity], _ question: Question,
        isPrecious: ([UInt8]) -> Bool
    ) throws(Errno) -> String? {
        var walk = DirectoryWalk(in: start, names: try start.names(), context: ())
        while let step = try walk.next() {
            guard case .entry(let name) = step else {
                way.removeLast()
                continue
            }
            if VersionControl.names.contains(name) { return "a work tree" }
            if question.passed.contains(name.bytes) { continue }
            do throws(Errno) {
                let inner = try walk.directory.openBeneath(name, flags: .readOnly)
                let identity = try inner.status().identity
                walk.enter(inner, names: try inner.names(), context: ())
                way.append(identity)
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
