import SystemCalls

/// The allocated size of a directory with everything in it, and when a file in it was last modified,
/// while a walk adds it up; shared by the threads of the walk.
///
/// A file with several hard links counts once in each directory that contains one or more of them,
/// as `du` counts it. Complete after ``addUp(_:)``.
package final class TreeSize: Sendable {
    private struct Sum {
        var bytes: Int64 = 0
        var newest = Int64.min
        /// The files with several hard links, by identity, with their sizes.
        var linked: [FileIdentity: Int64] = [:]
    }

    private let parent: TreeSize?
    private let sum = Monitor(Sum())

    /// - Parameter parent: the size of the nearest directory above that is added up, too.
    package init(in parent: TreeSize?) { self.parent = parent }

    package func add(_ status: FileStatus) {
        sum.withLock { sum in
            if status.kind == .regularFile {
                sum.newest = max(sum.newest, status.contentModificationTime.seconds)
            }
            if status.kind != .directory && status.linkCount > 1 {
                sum.linked[status.identity] = status.allocatedSize
            } else {
                sum.bytes.addSaturating(status.allocatedSize)
            }
        }
    }

    /// Adds the sizes of directories to those of the directories above them.
    ///
    /// - Parameter sizes: all sizes of a walk, in the order in which they were created.
    package static func addUp(_ sizes: [TreeSize]) {
        for size in sizes.reversed() {
            guard let parent = size.parent else { continue }
            let inner = size.sum.withLock { $0 }
            parent.sum.withLock { sum in
                sum.bytes.addSaturating(inner.bytes)
                sum.newest = max(sum.newest, inner.newest)
                sum.linked.merge(inner.linked) { first, _ in first }
            }
        }
    }

    /// The latest modification of a regular file, in seconds since 1970; the lowest number for none.
    package var lastModified: Int64 { sum.withLock { $0.newest } }

    package var total: Int64 {
        sum.withLock { sum in
            sum.linked.values.reduce(into: sum.bytes) { $0.addSaturating($1) }
        }
    }
}
