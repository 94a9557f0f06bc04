// Types in this module's declarations: FileLocation, FileStatus, FileError and others.
@_exported import SystemCalls
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
        let limit = try calls(on: nil, FileError.opening) { () throws(Errno) in
            try raiseDescriptorLimit()
        }
        let pool = WorkPool(
            roots: roots, descriptorLimit: min(limit / 2, openDirectoryLimit),
            shouldStop: shouldStop)
        let scanner = self
        var threads: [RunningThread] = []
        for number in 0..<max(threadCount, 1) {
            // Threads of its own: a worker may stop sharing the process's working directory.
            let thread = startThread {
                var worker = TreeWorker(pool, scanner, visitor: makeVisitor(number))
                worker.run()
            }
            guard let thread else { break }
            threads.append(thread)
        }
        for thread in threads { thread.join() }
        guard !threads.isEmpty else {
            throw FileError(code: .other, message: "no thread could be started")
        }
    }
}

/// A receiver of the entries of a walk.
///
/// Every worker thread has its own visitor, so a visitor needs no locks for its state. Two threads
/// can read the same directory at once. Where the kernel has no xattrat calls, a worker's working
/// directory is the directory it reads, so a visitor must not use relative paths.
public protocol TreeVisitor {
    /// The value that a directory passes to its entries.
    associatedtype Context: Sendable = Void

    /// Called once for each entry, including the roots, while its directory is open.
    ///
    /// - Parameters:
    ///   - entry: the entry, valid only during the call.
    ///   - context: the value passed on by the entry's directory; for a root, the root's own
    ///     context.
    /// - Returns: whether to walk below the entry; ignored unless it is a directory.
    mutating func visit(_ entry: borrowing TreeEntry, in context: Context) -> Descent<Context>

    /// Called once for each directory that was opened, when nothing below it is left to visit.
    ///
    /// Not called when the walk is stopped. The calls for a directory and its entries may come on
    /// different threads; those of `leave` for a directory and one in it may then come in either order.
    ///
    /// - Parameter context: the value that the directory passed to its entries.
    mutating func leave(_ context: Context)

    /// Called when a root, or a directory met on the way, cannot be read. An encrypted one without its
    /// key is not read, since its names are ciphertext: that is the error `locked`.
    ///
    /// A directory below a root that is removed before it is opened is not reported.
    mutating func cannotRead(_ error: FileError)

    /// Called once, on the worker's thread, after its last entry.
    mutating func finish()
}

extension TreeVisitor {
    /// Does nothing.
    public mutating func leave(_ context: Context) {}
}

/// The choice whether a walk goes below an entry.
public enum Descent<Context: Sendable>: Sendable {
    /// Do not walk below this entry.
    case skip
    /// Walk below this entry, if it is a directory; its entries are visited with this context.
    case descend(Context)
}

/// The start of a walk.
public struct TreeRoot<Context: Sendable>: Sendable {
    /// The path, which is the prefix of all paths below it.
    public var path: FilePath
    /// The context that the root itself is visited with.
    public var context: Context

    /// Creates a root from a path and the context to visit it with.
    public init(_ path: FilePath, context: Context) {
        self.path = path
        self.context = context
    }
}

extension TreeRoot where Context == Void {
    /// Creates a root for a visitor that needs no context.
    public init(_ path: FilePath) {
        self.init(path, context: ())
    }
}
