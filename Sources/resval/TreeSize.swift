import Synchronization
import SystemCalls

/// The allocated size of a directory with everything in it, and when a file in it was last modified,
/// while a walk adds it up; shared by the threads of the walk.
///
/// A file with several hard links counts once in each directory that contains one or more of them,
/// as `du` counts it. Complete after ``addUp(_:)``.
final class TreeSize: Sendable {
    private let parent: TreeSize?
    private let bytes = Atomic<Int64>(0)
    private let newest = Atomic<Int64>(.min)
    /// The files with several hard links, by identity, with their sizes.
    private let linked: Monitor<[FileIdentity: Int64]> = Monitor([:])

    /// - Parameter parent: the size of the nearest directory above that is added up, too.
    init(in parent: TreeSize?) { self.parent = parent }

    func add(_ status: FileStatus) {
        if status.kind == .regularFile {
            newest.max(status.contentModificationTime.seconds, ordering: .relaxed)
        }
        if status.kind != .directory && status.linkCount > 1 {
            linked.withLock { $0[status.identity] = status.allocatedSize }
        } else {
            bytes.add(status.allocatedSize, ordering: .relaxed)
        }
    }

    /// Adds the sizes of directories to those of the directories above them.
    ///
    /// - Parameter sizes: all sizes of a walk, in the order in which they were created.
    static func addUp(_ sizes: [TreeSize]) {
        for size in sizes.reversed() {
            guard let parent = size.parent else { continue }
            parent.bytes.add(size.bytes.load(ordering: .relaxed), ordering: .relaxed)
            parent.newest.max(size.lastModified, ordering: .relaxed)
            let linked = size.linked.withLock { $0 }
            parent.linked.withLock { $0.merge(linked) { first, _ in first } }
        }
    }

    /// The latest modification of a regular file, in seconds since 1970; the lowest number for none.
    var lastModified: Int64 { newest.load(ordering: .relaxed) }

    var total: Int64 {
        linked.withLock { $0.values.reduce(0, +) } + bytes.load(ordering: .relaxed)
    }
}
