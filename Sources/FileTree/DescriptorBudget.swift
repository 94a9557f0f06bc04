import SystemCalls
import SystemPackage

/// Keeps the number of open directories in bounds, whatever the depth of the tree.
///
/// Directories whose entries wait for their turn keep their descriptor while there is room. Beyond
/// that the one opened longest ago is put away, since work goes deep first and comes back to it
/// last. It is opened again from below, as `..`, when the walk comes back, else by name from its
/// nearest open ancestor. Used under the pool's lock.
struct DescriptorBudget<Context: Sendable> {
    private let limit: Int
    private var openCount = 0
    /// Directories that may be put away, oldest first; some no longer are.
    private var parked: [DirectoryNode<Context>] = []
    private var firstParked = 0

    init(limit: Int) {
        self.limit = max(limit, 16)
    }

    /// Whether directories that cannot be put away may be added.
    var areAmple: Bool { openCount < limit / 2 }

    /// Counts a directory that was just opened.
    ///
    /// - Returns: a descriptor to close in its place.
    mutating func began(_ node: DirectoryNode<Context>) -> FileDescriptor? {
        // A thread walks one root at a time: they are few, and never put away.
        guard node.parent != nil else { return nil }
        openCount += 1
        return openCount > limit ? putAwayOldest() : nil
    }

    /// Notes that one use of a directory has ended.
    ///
    /// - Returns: its descriptor to close, when nothing is left to do in it.
    mutating func released(_ node: DirectoryNode<Context>) -> FileDescriptor? {
        if node.isFinished {
            // A root stays open as long as anything below it may have to be opened again.
            return node.parent == nil ? nil : takeDescriptor(of: node)
        }
        if node.canBePutAway { park(node) }
        return nil
    }

    /// Makes sure that a directory is open.
    ///
    /// - Throws: the errno that kept it from being opened; `ENOTDIR` when its name now leads to
    ///   something else.
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
                if !isBorrowed { closeQuietly(current) }
                throw error
            }
            if !isBorrowed { closeQuietly(current) }
            current = opened
            // The nearest ancestors are needed next, when the walk comes back to them.
            isBorrowed = distance == 0 || (distance < limit / 4 && ancestor.waitingChildren > 0)
            if isBorrowed { adopt(opened, for: ancestor) }
        }
    }

    /// Opens the next directory that work comes back to once nothing waits in an open one.
    ///
    /// Takes one call for each level, where names would have to be followed all the way from the
    /// root. A directory that was moved meanwhile leads elsewhere; then ``reopen(_:)`` has to find
    /// the way.
    mutating func prepareReturn(from node: DirectoryNode<Context>) {
        guard node.waitingChildren == 0, let start = node.descriptor,
            let goal = node.nearestAncestorWithWork(), goal.descriptor == nil
        else { return }
        var current = start
        var next = node.parent
        while let ancestor = next {
            let opened = try? openAgain(ancestor, as: "..", in: current)
            if current != start { closeQuietly(current) }
            guard let opened else { return }
            if ancestor === goal { return adopt(opened, for: goal) }
            current = opened
            next = ancestor.parent
        }
    }

    private mutating func adopt(_ descriptor: FileDescriptor, for node: DirectoryNode<Context>) {
        node.descriptor = descriptor
        if let surplus = began(node) { closeQuietly(surplus) }
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
    let descriptor = try openDirectory(in: directory, name)
    do throws(Errno) {
        guard try descriptor.status().identity == node.identity else { throw .notDirectory }
        return descriptor
    } catch {
        closeQuietly(descriptor)
        throw error
    }
}

/// Opens a directory to be read, never through a symbolic link.
///
/// - Parameter leavesAccessTime: whether reading it shall not count as use.
func openDirectory(
    in directory: FileDescriptor, _ name: FilePath, leavesAccessTime: Bool = false
) throws(Errno) -> FileDescriptor {
    let flags: FileDescriptor.OpenOptions = [.readOnly, .directory, .noFollow, .nonBlocking]
    guard leavesAccessTime else { return try openFile(in: directory, name, flags: flags) }
    return try openFileUnnoticed(in: directory, name, flags: flags)
}
