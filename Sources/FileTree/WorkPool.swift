import SystemCalls
import SystemPackage

/// The remaining tasks of a walk, shared by its workers.
///
/// Tasks are taken last in, first out, so a walk goes deep before it goes wide. Together with
/// reading a directory one buffer at a time, this bounds memory by the tree's depth rather than its
/// size.
final class WorkPool<Context: Sendable>: Sendable {
    enum Work {
        case root(TreeRoot<Context>)
        /// Open and read a directory met in `parent`, whose descriptor is in use until
        /// ``WorkPool/stoppedUsing(_:withoutChildren:)``.
        case open(parent: DirectoryNode<Context>, name: FilePath, context: Context)
        case read(DirectoryNode<Context>)
        /// The waiting entries of `parent`, so many, cannot be reached. It is in use likewise.
        case lost(parent: DirectoryNode<Context>, count: Int, errno: Errno)
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
                    // Removed from the stack first, so that the batch is changed without a copy.
                    stack.removeLast()
                    let parent = batch.parent
                    do throws(Errno) {
                        try descriptors.reopen(parent)
                    } catch {
                        return .lost(
                            parent: parent, count: forgetChildren(of: parent), errno: error)
                    }
                    let child = batch.removeFirst()
                    if !batch.isEmpty { stack.append(.children(batch)) }
                    parent.waitingChildren -= 1
                    parent.users += 1
                    descriptors.prepareReturn(from: parent)
                    return .open(parent: parent, name: child.name, context: child.context)
                }
            }
            return roots.popLast().map { .root($0) }
        }

        /// Drops the waiting entries of a directory that cannot be reached, which is reported once.
        ///
        /// - Returns: their number.
        private mutating func forgetChildren(of parent: DirectoryNode<Context>) -> Int {
            stack.removeAll { pending in
                if case .children(let batch) = pending { batch.parent === parent } else { false }
            }
            defer { parent.waitingChildren = 0 }
            parent.users += 1
            return parent.waitingChildren
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

    /// Takes the next task, and waits while other workers may still add some.
    ///
    /// - Parameter finished: whether the caller has finished a task that it took before.
    /// - Returns: nil if the walk is over or must stop.
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

    func add(_ batch: ChildBatch<Context>) {
        state.withLock { state in
            batch.parent.waitingChildren += batch.count
            batch.parent.unfinishedChildren += batch.count
            state.stack.append(.children(batch))
            wakeWaiting(&state)
        }
    }

    /// Hands the rest of a directory to any free worker.
    ///
    /// - Returns: false if descriptors are short; the caller then reads on itself, since a partly
    ///   read directory keeps its descriptor.
    func handOver(_ node: DirectoryNode<Context>) -> Bool {
        state.withLock { state in
            guard state.descriptors.areAmple else { return false }
            node.users += 1
            state.stack.append(.read(node))
            wakeWaiting(&state)
            return true
        }
    }

    /// Records that a directory was opened, which then counts against the descriptor limit.
    func began(_ node: DirectoryNode<Context>) {
        let surplus = state.withLock { state in
            node.users += 1
            return state.descriptors.began(node)
        }
        if let surplus { closeIgnoringErrors(surplus) }
    }

    /// Records that the caller no longer needs a directory's descriptor.
    ///
    /// - Parameter count: the number of its subdirectories that turned out not to be walked.
    /// - Returns: the number of directories that were left: as ``DirectoryNode/countLeft()``.
    func stoppedUsing(_ node: DirectoryNode<Context>, withoutChildren count: Int = 0) -> Int {
        release(node) { node.unfinishedChildren -= count }
    }

    /// Records that a directory has been read to its end, and returns as
    /// ``stoppedUsing(_:withoutChildren:)``.
    func finishedReading(_ node: DirectoryNode<Context>) -> Int {
        release(node) { node.isBeingRead = false }
    }

    private func release(_ node: DirectoryNode<Context>, _ change: () -> Void) -> Int {
        let (unused, count) = state.withLock { state in
            node.users -= 1
            change()
            return (state.descriptors.released(node), node.countLeft())
        }
        if let unused { closeIgnoringErrors(unused) }
        return count
    }

    private func wakeWaiting(_ state: inout State) {
        guard state.waitingWorkers > 0 else { return }
        state.waitingWorkers = 0
        self.state.wakeAll()
    }
}
