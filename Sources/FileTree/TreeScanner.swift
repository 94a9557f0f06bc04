import SystemCalls
import SystemPackage

/// A parallel walk of directory trees, by descriptor, to any depth and with any names.
///
/// Memory is bounded by the depth of the tree, plus 64 KiB for each thread, not by the number of
/// entries. Symbolic links are never followed below a root.
public struct TreeScanner: Sendable {
    /// The number of threads. More threads than cores are useful if the tree is read from a disk.
    public var threadCount: Int
    /// Whether directories on other filesystems are visited but not entered (as `find -xdev`).
    public var staysOnFilesystem: Bool
    /// Whether a root that is a symbolic link is followed.
    public var followsRoots: Bool
    /// Whether reading directories preserves their access times where permitted, so that a walk
    /// does not count as use.
    public var leavesAccessTimes = false
    /// Called before each entry; true ends the walk at once.
    public var shouldStop: @Sendable () -> Bool
    /// The most directories kept open, where the limit on descriptors allows it.
    var openDirectoryLimit = 1024

    /// Creates a scanner.
    public init(
        threadCount: Int = defaultThreadCount, staysOnFilesystem: Bool = false,
        followsRoots: Bool = true, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) {
        self.threadCount = threadCount
        self.staysOnFilesystem = staysOnFilesystem
        self.followsRoots = followsRoots
        self.shouldStop = shouldStop
    }

    /// The default number of threads: twice the cores this process may run on, at least 2 and at
    /// most 8, so that some threads work while others wait for a disk.
    public static var defaultThreadCount: Int {
        min(max(2 * availableProcessorCount(), 2), 8)
    }

    /// Visits every root and everything below it, in no particular order.
    ///
    /// Returns when all worker threads have ended.
    ///
    /// - Parameters:
    ///   - roots: the roots of the walk.
    ///   - makeVisitor: called once on each worker's thread, with the worker's number from 0.
    /// - Throws: ``FileError`` `tooManyOpenFiles` or `other` if no thread could be started or the
    ///   limit on descriptors could not be read. Errors with single files are passed to the
    ///   visitors.
    public func scan<Visitor: TreeVisitor & SendableMetatype>(
        _ roots: [TreeRoot<Visitor.Context>],
        makeVisitor: @escaping @Sendable (Int) -> Visitor
    ) throws(FileError) {
        let limit: Int
        do throws(Errno) {
            limit = try raiseDescriptorLimit()
        } catch {
            throw FileError.opening(error, nil)
        }
        let pool = WorkPool(
            roots: roots, descriptorLimit: min(limit / 2, openDirectoryLimit),
            shouldStop: shouldStop)
        let scanner = self
        let started = runOnThreads(max(threadCount, 1)) { number in
            var worker = TreeWorker(pool, scanner, visitor: makeVisitor(number))
            worker.run()
        }
        guard started > 0 else {
            throw FileError(code: .other, message: "no thread could be started")
        }
    }
}

/// Runs `body` on new threads and returns when all have ended.
///
/// The threads may stop sharing the process's working directory, which the caller's thread must not
/// do.
///
/// - Returns: the number of threads that could be started; each has run `body` with its number from
///   0.
func runOnThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Int {
    var threads: [RunningThread] = []
    for number in 0..<count {
        guard let thread = startThread({ body(number) }) else { break }
        threads.append(thread)
    }
    for thread in threads { thread.join() }
    return threads.count
}
