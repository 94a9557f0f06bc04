import SystemCalls
import SystemPackage

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
