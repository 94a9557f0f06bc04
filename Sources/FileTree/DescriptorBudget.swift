import SystemCalls
import SystemPackage

/// A limit on the number of open directories, whatever the depth of the tree.
///
/// A directory with waiting entries keeps its descriptor while the limit allows. Beyond that, the
/// directory opened longest ago is closed, since the walk goes deep first and returns to it last.
/// When the walk returns, it is reopened from below, as `..`, or else by name from its nearest open
/// ancestor. Used under the pool's lock.
struct DescriptorBudget<Context: Sendable> {
    private let limit: Int
    private var openCount = 0
    /// Directories that may be closed, oldest first, including some that no longer may.
    private var parked: [DirectoryNode<Context>] = []
    private var firstParked = 0

    init(limit: Int) {
        self.limit = max(limit, 16)
    }

    /// Whether directories that cannot be closed may be added.
    var areAmple: Bool { openCount < limit / 2 }

    /// Counts a directory that was just opened.
    ///
    /// - Returns: the descriptor of another directory, to close; nil if none has to be or can be
    ///   closed.
    mutating func began(_ node: DirectoryNode<Context>) -> FileDescriptor? {
        // Roots are not counted: they are few, since a thread walks one at a time, and never
        // closed.
        guard node.parent != nil else { return nil }
        openCount += 1
        return openCount > limit ? putAwayOldest() : nil
    }

    /// Records that one use of a directory has ended.
    ///
    /// - Returns: its descriptor, to close, if nothing is left to do in it; else nil.
    mutating func released(_ node: DirectoryNode<Context>) -> FileDescriptor? {
        if node.isFinished {
            // A root stays open because any directory below it may have to be reopened.
            return node.parent == nil ? nil : takeDescriptor(of: node)
        }
        if node.canBePutAway { park(node) }
        return nil
    }

    /// Reopens a directory if it is closed.
    ///
    /// - Throws: the errno of reopening it; `ENOTDIR` if its name now leads to another file.
    mutating func reopen(_ node: DirectoryNode<Context>) throws(Errno) {
        guard node.descriptor == nil else { return }
        var chain: [DirectoryNode<Context>] = []
        var next: DirectoryNode<Context>? = node
        while let ancestor = next, ancestor.descriptor == nil {
            chain.append(ancestor)
            next = ancestor.parent
        }
        guard let start = next?.descriptor else { throw .noSuchFileOrDirectory }
        var current = start
        var isBorrowed = true
        for (distance, ancestor) in chain.enumerated().reversed() {
            let opened: FileDescriptor
            do throws(Errno) {
                opened = try openAgain(ancestor, as: ancestor.name, in: current)
            } catch {
                if !isBorrowed { closeIgnoringErrors(current) }
                throw error
            }
            if !isBorrowed { closeIgnoringErrors(current) }
            current = opened
            // The nearest ancestors are needed next, when the walk returns to them.
            isBorrowed = distance == 0 || (distance < limit / 4 && ancestor.waitingChildren > 0)
            if isBorrowed { adopt(opened, for: ancestor) }
        }
    }

    /// Opens the next directory that the walk returns to, if no entries wait in the given one.
    ///
    /// Takes one call per level, whereas reopening by name starts from the root. A directory that
    /// was moved leads elsewhere; then ``reopen(_:)`` has to find the way.
    mutating func prepareReturn(from node: DirectoryNode<Context>) {
        guard node.waitingChildren == 0, let start = node.descriptor,
            let goal = node.nearestAncestorWithWork(), goal.descriptor == nil
        else { return }
        var current = start
        var next = node.parent
        while let ancestor = next {
            let opened = try? openAgain(ancestor, as: "..", in: current)
            if current != start { closeIgnoringErrors(current) }
            guard let opened else { return }
            if ancestor === goal { return adopt(opened, for: goal) }
            current = opened
            next = ancestor.parent
        }
    }

    private mutating func adopt(_ descriptor: FileDescriptor, for node: DirectoryNode<Context>) {
        node.descriptor = descriptor
        if let surplus = began(node) { closeIgnoringErrors(surplus) }
        park(node)
    }

    private mutating func park(_ node: DirectoryNode<Context>) {
        guard !node.isParked else { return }
        node.isParked = true
        parked.append(node)
        if parked.count > 4 * limit { compact() }
    }

    private mutating func compact() {
        parked = parked[firstParked...].filter { node in
            node.isParked = node.canBePutAway
            return node.isParked
        }
        firstParked = 0
    }

    private mutating func putAwayOldest() -> FileDescriptor? {
        while firstParked < parked.count {
            let node = parked[firstParked]
            firstParked += 1
            node.isParked = false
            if node.canBePutAway { return takeDescriptor(of: node) }
        }
        compact()
        return nil
    }

    private mutating func takeDescriptor(of node: DirectoryNode<Context>) -> FileDescriptor? {
        guard let descriptor = node.descriptor.take() else { return nil }
        openCount -= 1
        return descriptor
    }
}

private func openAgain<Context>(
    _ node: DirectoryNode<Context>, as name: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileDescriptor {
    let opened = OwnedDescriptor(try openDirectory(in: directory, name))
    guard try opened.descriptor.status().identity == node.identity else { throw .notDirectory }
    return opened.release()
}

/// Opens a directory for reading, never through a symbolic link.
///
/// - Parameter leavesAccessTime: whether to preserve its access time where permitted.
func openDirectory(
    in directory: FileDescriptor, _ name: FilePath, leavesAccessTime: Bool = false
) throws(Errno) -> FileDescriptor {
    let flags: FileDescriptor.OpenOptions = [.readOnly, .directory, .noFollow, .nonBlocking]
    let location = DirectoryEntryLocation(directory: directory, name: name)
    return leavesAccessTime
        ? try openPreservingAccessTime(location, flags: flags)
        : try openFile(location, flags: flags)
}
