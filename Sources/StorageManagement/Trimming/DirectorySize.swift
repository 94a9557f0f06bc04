import FileTree
import SystemCalls
import SystemPackage

/// What a directory and all below it on its filesystem take, in bytes: `st_blocks` × 512 of each
/// inode, once for all of its names.
///
/// - Throws: `FileError` for the first directory that cannot be read: its size is not known then.
func allocatedSize(of directory: FilePath, device: UInt64) throws -> Int64 {
    let sum = Monitor(SizeSum())
    var scanner = TreeScanner(followsRoots: false)
    // Looking is no use: it would make everything young.
    scanner.leavesAccessTimes = true
    try scanner.scan([TreeRoot(directory)]) { _ in
        SizeVisitor(device: device, sum: sum)
    }
    let (bytes, failure) = sum.withLock { ($0.bytes, $0.failure) }
    if let failure { throw failure }
    return bytes
}

private struct SizeSum {
    var bytes: Int64 = 0
    var seen: Set<FileIdentity> = []
    var failure: FileError?
}

private struct SizeVisitor: TreeVisitor {
    let device: UInt64
    let sum: Monitor<SizeSum>
    var bytes: Int64 = 0

    init(device: UInt64, sum: Monitor<SizeSum>) {
        self.device = device
        self.sum = sum
    }

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        do throws(Errno) {
            let status = try entry.status()
            guard status.identity.device == device else { return .skip }
            let isCounted =
                status.kind == .directory || status.linkCount < 2
                || sum.withLock { $0.seen.insert(status.identity).inserted }
            if isCounted { bytes.addSaturating(status.allocatedSize) }
            return .descend(())
        } catch .noSuchFileOrDirectory {
            return .skip
        } catch {
            cannotRead(.readingStatus(error, of: entry.path))
            return .skip
        }
    }

    mutating func cannotRead(_ error: FileError) {
        sum.withLock { $0.failure = $0.failure ?? error }
    }

    mutating func finish() { sum.withLock { [bytes] in $0.bytes.addSaturating(bytes) } }
}
