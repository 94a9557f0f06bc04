import SystemCalls
import SystemPackage

/// A directory of a walk that is being read or has waiting entries.
///
/// Mutable state is guarded by the lock of the walk's ``WorkPool``, and each use of it ends before another
/// begins: checking that at run time would take a tenth of the time of a walk.
final class DirectoryNode<Context: Sendable>: @unchecked Sendable {
    /// The parent directory; nil for a root.
    @exclusivity(unchecked) private(set) var parent: DirectoryNode?
    /// The name in `parent`; the path as given for a root.
    let name: FilePath
    let identity: FileIdentity
    let depth: Int
    /// The length of ``pathPrefix()`` in bytes.
    let prefixLength: Int
    let context: Context

    // Guarded by the pool's lock:

    /// The descriptor; nil while closed to save descriptors.
    @exclusivity(unchecked) var descriptor: FileDescriptor?
    /// The number of threads that use the descriptor.
    @exclusivity(unchecked) var users = 0
    /// Whether entries are left to read. The descriptor has the read position, so it must stay
    /// open.
    @exclusivity(unchecked) var isBeingRead = true
    /// Whether it is in the budget's list of directories that may be closed.
    @exclusivity(unchecked) var isParked = false
    /// The number of its subdirectories that wait to be opened.
    @exclusivity(unchecked) var waitingChildren = 0
    /// The number of its subdirectories that wait to be opened, or below which something is left to
    /// visit.
    @exclusivity(unchecked) var unfinishedChildren = 0
    /// The nearest ancestor not known to be finished; nil for `parent`. Descendants keep it alive.
    @exclusivity(unchecked) private unowned var shortcut: DirectoryNode?

    init(
        parent: DirectoryNode?, name: FilePath, identity: FileIdentity, context: Context,
        descriptor: FileDescriptor
    ) {
        self.parent = parent
        self.name = name
        self.identity = identity
        self.context = context
        self.descriptor = descriptor
        depth = (parent?.depth ?? -1) + 1
        let endsWithSlash = parent == nil && name == "/"
        prefixLength = (parent?.prefixLength ?? 0) + name.length + (endsWithSlash ? 0 : 1)
    }

    /// Releases a chain of ancestors one by one: releasing the chain of a tree 100,000 levels deep
    /// recursively would overflow the thread's stack.
    deinit {
        if let descriptor { closeIgnoringErrors(descriptor) }
        var next = parent.take()
        while next != nil, isKnownUniquelyReferenced(&next) {
            next = next?.parent.take()
        }
    }

    /// Whether the directory itself is not needed any more.
    var isFinished: Bool { !isBeingRead && waitingChildren == 0 && users == 0 }

    /// Counts the directories with nothing left to visit below them: this one and those above it,
    /// up to the first one that has. To be called once after each change that may be the last one.
    func countLeft() -> Int {
        var count = 0
        var next: DirectoryNode? = self
        while let node = next, node.isFinished, node.unfinishedChildren == 0 {
            count += 1
            next = node.parent
            next?.unfinishedChildren -= 1
        }
        return count
    }

    /// Whether the descriptor may be closed: it can be reopened by name and has no read position.
    var canBePutAway: Bool {
        descriptor != nil && users == 0 && !isBeingRead && parent != nil
    }

    /// Returns the nearest ancestor that is not finished, else the root; nil for a root.
    func nearestAncestorWithWork() -> DirectoryNode? {
        var next = shortcut ?? parent
        // A finished node stays finished, so each is skipped only once.
        while let node = next, node.parent != nil, node.isFinished {
            next = node.shortcut ?? node.parent
        }
        shortcut = next
        return next
    }

    /// Returns the path with a trailing slash.
    func pathPrefix() -> [UInt8] {
        var names: [FilePath] = []
        var next: DirectoryNode? = self
        while let node = next {
            names.append(node.name)
            next = node.parent
        }
        var prefix: [UInt8] = []
        prefix.reserveCapacity(prefixLength)
        for name in names.reversed() {
            name.withPlatformString {
                prefix.append(contentsOf: UnsafeRawBufferPointer(start: $0, count: name.length))
            }
            if prefix.last != UInt8(ascii: "/") { prefix.append(UInt8(ascii: "/")) }
        }
        return prefix
    }
}

/// Subdirectories of one directory that wait to be opened, in the order to open them.
struct ChildBatch<Context: Sendable>: Sendable {
    let parent: DirectoryNode<Context>
    /// The names, each NUL-terminated, one after another.
    private var names: [CChar] = []
    private var contexts: [Context] = []
    private var firstName = 0
    private var firstContext = 0

    init(parent: DirectoryNode<Context>) {
        self.parent = parent
    }

    var count: Int { contexts.count - firstContext }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ name: UnsafePointer<CChar>, length: Int, context: Context) {
        names.append(contentsOf: UnsafeBufferPointer(start: name, count: length + 1))
        contexts.append(context)
    }

    mutating func removeFirst() -> (name: FilePath, context: Context) {
        let rest = names[firstName...]
        let end = rest.firstIndex(of: 0) ?? rest.endIndex - 1
        let name = FilePath(platformString: Array(rest[...end]))
        firstName = end + 1
        firstContext += 1
        return (name, contexts[firstContext - 1])
    }
}
