import SystemCalls
import SystemPackage

/// What a walk calls for each entry it meets.
///
/// Every worker thread has a visitor of its own, so a visitor needs no locks for what it keeps. Two
/// threads can be in one directory at once. Where the kernel has no xattrat calls a worker's working
/// directory is the directory it is in: use no relative path in a visitor.
public protocol TreeVisitor {
    /// What a directory passes to its entries.
    associatedtype Context: Sendable = Void

    /// Called once for each entry, a root included, while its directory is open.
    ///
    /// - Parameters:
    ///   - entry: the entry, valid only meanwhile.
    ///   - context: what the directory that holds the entry passes on; for a root, what the root was
    ///     given with.
    /// - Returns: whether to go below, which counts for directories only.
    mutating func visit(_ entry: borrowing TreeEntry, in context: Context) -> Descent<Context>

    /// Called when a root, or a directory met on the way, cannot be read.
    ///
    /// Directories that are gone when their turn comes are not reported: nothing is there to miss.
    mutating func cannotRead(_ error: FileError)

    /// Called once, on the worker's thread, after its last entry.
    mutating func finish()
}

/// Whether a walk goes below an entry.
public enum Descent<Context: Sendable>: Sendable {
    /// Not below this entry.
    case skip
    /// Below this entry, if it is a directory; its entries are visited with this context.
    case descend(Context)
}

/// Where a walk begins.
public struct TreeRoot<Context: Sendable>: Sendable {
    /// The path, printed in front of everything found below it.
    public var path: FilePath
    /// What the root itself is visited with.
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
