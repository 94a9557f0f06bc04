import SystemCalls
import SystemPackage

/// What is left to do in a walk, shared by its workers.
///
/// Tasks are taken last in, first out, so a walk goes deep before it goes wide. That, and reading a
/// directory a buffer at a time, bounds memory by the tree's depth rather than its size.
final class WorkPool<Context: Sendable>: Sendable {
    enum Work {
        case root(TreeRoot<Context>)
        /// Open and read a directory met in `parent`, whose descriptor is in use until
        /// ``WorkPool/stoppedUsing(_:)``.
        case open(parent: DirectoryNode<Context>, name: FilePath, context: Context)
        /// Read on in a directory.
        case read(DirectoryNode<Context>)
        /// Entries of `parent` that cannot be reached any more.
        case lost(parent: DirectoryNode<Context>, errno: Errno)
    }

    private struct State {
        var roots: [TreeRoot<Context>]
        var stack: [Pending] = []
        var descriptors: DescriptorBudget<Context>
        var busyWorkers = 0
        var waitingWorkers = 0

        mutating func takeWork() -> Work? {
            while let last = stack.indices.last {
                switch stack[last] {
                case .read(let node):
                    stack.removeLast()
                    return .read(node)
                case .children(var batch):
                    // Emptied first, so that the batch is changed in place.
                    stack.removeLast()
                    let parent = batch.parent
                    do throws(Errno) {
                        try descriptors.reopen(parent)
                    } catch {
                        forgetChildren(of: parent)
                        return .lost(parent: parent, errno: error)
                    }
                    let child = batch.removeFirst()
                    if !batch.isEmpty { stack.append(.children(batch)) }
                    return open(child, in: parent)
                }
            }
            return roots.popLast().map { .root($0) }
        }

        /// Drops what waits in a directory that cannot be reached, which is reported once.
        private mutating func forgetChildren(of parent: DirectoryNode<Context>) {
            stack.removeAll { pending in
                if case .children(let batch) = pending { batch.parent === parent } else { false }
            }
            parent.waitingChildren = 0
        }

        private mutating func open(
            _ child: (name: FilePath, context: Context), in parent: DirectoryNode<Context>
        ) -> Work {
            parent.waitingChildren -= 1
            parent.users += 1
            descriptors.prepareReturn(from: parent)
            return .open(parent: parent, name: child.name, context: child.context)
        }
    }

    private enum Pending {
        case read(DirectoryNode<Context>)
        case children(ChildBatch<Context>)
    }

    private let state: Monitor<State>
    private let shouldStop: @Sendable () -> Bool

    init(
        roots: [TreeRoot<Context>], descriptorLimit: Int,
        shouldStop: @escaping @Sendable () -> Bool
    ) {
        state = Monitor(
            State(
                roots: roots.reversed(), descriptors: DescriptorBudget(limit: descriptorLimit)))
        self.shouldStop = shouldStop
    }

    var isStopped: Bool { shouldStop() }

    /// Takes the next task, waiting while other workers may still add some.
    ///
    /// - Parameter finished: whether the caller has done a task it took before.
    /// - Returns: nil when the walk is over or shall stop.
    func next(finished: Bool) -> Work? {
        var hasReported = !finished
        return state.wait { state -> Work?? in
            if !hasReported {
                hasReported = true
                state.busyWorkers -= 1
            }
            if shouldStop() {
                self.state.wakeAll()
                return .some(nil)
            }
            if let work = state.takeWork() {
                state.busyWorkers += 1
                return work
            }
            if state.busyWorkers == 0 {
                self.state.wakeAll()
                return .some(nil)
            }
            state.waitingWorkers += 1
            return nil
        }
    }

    /// Adds directories that wait to be opened.
    func add(_ batch: ChildBatch<Context>) {
        state.withLock { state in
            batch.parent.waitingChildren += batch.count
            state.stack.append(.children(batch))
            wakeWaiting(&state)
        }
    }

    /// Hands the rest of a directory to whoever is free.
    ///
    /// - Returns: false when descriptors are short; then the caller reads on itself, since a directory
    ///   that is half read keeps its descriptor.
    func handOver(_ node: DirectoryNode<Context>) -> Bool {
        state.withLock { state in
            guard state.descriptors.areAmple else { return false }
            node.users += 1
            state.stack.append(.read(node))
            wakeWaiting(&state)
            return true
        }
    }

    /// Notes a directory that was opened, which then counts against the descriptors.
    func began(_ node: DirectoryNode<Context>) {
        let surplus = state.withLock { state in
            node.users += 1
            return state.descriptors.began(node)
        }
        if let surplus { closeQuietly(surplus) }
    }

    /// Notes that the caller needs a directory's descriptor no more.
    func stoppedUsing(_ node: DirectoryNode<Context>) {
        let unused = state.withLock { state in
            node.users -= 1
            return state.descriptors.released(node)
        }
        if let unused { closeQuietly(unused) }
    }

    /// Notes that a directory has been read to its end.
    func finishedReading(_ node: DirectoryNode<Context>) {
        let unused = state.withLock { state in
            node.users -= 1
            node.isBeingRead = false
            return state.descriptors.released(node)
        }
        if let unused { closeQuietly(unused) }
    }

    private func wakeWaiting(_ state: inout State) {
        guard state.waitingWorkers > 0 else { return }
        state.waitingWorkers = 0
        self.state.wakeAll()
    }
}
