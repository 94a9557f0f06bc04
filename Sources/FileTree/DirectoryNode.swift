import SystemCalls
import SystemPackage

/// A directory of a walk that is being read or has entries whose turn has not come.
///
/// What can change is guarded by the lock of the walk's ``WorkPool``.
final class DirectoryNode<Context: Sendable>: @unchecked Sendable {
    /// The directory above; nil for a root.
    private(set) var parent: DirectoryNode?
    /// The name in `parent`; the path as given for a root.
    let name: FilePath
    let identity: FileIdentity
    let depth: Int
    let context: Context

    // Guarded by the pool's lock:

    /// nil while the descriptor is put away to spare descriptors.
    var descriptor: FileDescriptor?
    /// How many threads use the descriptor now.
    var users = 0
    /// Whether entries are left to read. The position lies in the descriptor, so it must stay open.
    var isBeingRead = true
    /// Whether it is among those that may be put away.
    var isParked = false
    /// How many directories in it wait to be opened.
    var waitingChildren = 0
    /// An ancestor below which all are finished; nil for `parent`. Descendants keep it alive.
    private unowned var shortcut: DirectoryNode?

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
    }

    /// Releases a chain of ancestors one by one: left to itself the chain of a tree 100,000 levels
    /// deep would be released recursively and overflow the thread's stack.
    deinit {
        if let descriptor { closeQuietly(descriptor) }
        var next = parent.take()
        while next != nil, isKnownUniquelyReferenced(&next) {
            next = next?.parent.take()
        }
    }

    var isFinished: Bool { !isBeingRead && waitingChildren == 0 && users == 0 }

    /// Whether the descriptor may be put away: it can be opened again by name and has no position.
    var canBePutAway: Bool {
        descriptor != nil && users == 0 && !isBeingRead && parent != nil
    }

    /// The nearest ancestor that is not finished, else the root; nil for a root.
    func nearestAncestorWithWork() -> DirectoryNode? {
        var next = shortcut ?? parent
        // What is finished stays so, and is passed only once.
        while let node = next, node.parent != nil, node.isFinished {
            next = node.shortcut ?? node.parent
        }
        shortcut = next
        return next
    }

    /// The path with a slash behind it.
    func pathPrefix() -> [UInt8] {
        var names: [FilePath] = []
        var next: DirectoryNode? = self
        while let node = next {
            names.append(node.name)
            next = node.parent
        }
        var prefix: [UInt8] = []
        for name in names.reversed() {
            name.withPlatformString { pointer in
                var byte = pointer
                while byte.pointee != 0 {
                    prefix.append(UInt8(bitPattern: byte.pointee))
                    byte += 1
                }
            }
            if prefix.last != UInt8(ascii: "/") { prefix.append(UInt8(ascii: "/")) }
        }
        return prefix
    }
}
