import Eviction
import ResourceValues
import SystemCalls
import SystemPackage

/// The files and directories without which no evicted file could be downloaded. They and everything
/// below them are never evicted.
package struct NeededPlaces: Sendable {
    private var places: [FileIdentity: String] = [:]

    package init() {}

    /// Adds a file or directory, if it exists.
    ///
    /// - Parameter meaning: what it is, as a phrase such as `the repository`.
    package mutating func add(_ path: FilePath, _ meaning: String) {
        do throws(Errno) {
            places[try path.status().identity] = meaning
        } catch {
            // Nothing is below a path that does not exist or cannot be inspected.
        }
    }

    /// Whether a directory or file is one of these.
    func isPlace(_ identity: FileIdentity) -> Bool { places[identity] != nil }

    /// Returns why a file is needed; nil when it is not.
    ///
    /// - Parameter path: an absolute path without symbolic links.
    func reason(for path: FilePath) throws(FileError) -> EvictionError? {
        var ancestor = path
        while true {
            let identity = try ancestor.withoutFollowing.fileStatus().identity
            if let meaning = places[identity] { return .needed(meaning) }
            if ancestor.components.isEmpty { return nil }
            ancestor.removeLastComponent()
        }
    }
}
