import SystemCalls
import SystemPackage

/// A ``TargetTree`` for a handler that moves between threads, but is used by one at a time.
final class TreeBox: Sendable {
    private let tree: Monitor<TargetTree>

    init(_ tree: sending TargetTree) { self.tree = Monitor(tree) }

    /// Returns the location of an item of the snapshot, which is valid until the next call.
    func location(of path: [UInt8]) throws(Errno) -> DirectoryEntryLocation {
        let result = tree.withLock { tree in
            Result { () throws(Errno) in try tree.location(of: path) }
        }
        return try result.get()
    }
}
