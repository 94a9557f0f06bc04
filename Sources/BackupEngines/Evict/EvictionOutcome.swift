import Eviction
import SystemCalls
import SystemPackage

/// The outcome of evicting or downloading one file.
package struct EvictionOutcome: Sendable {
    /// The kinds of outcomes.
    package enum End: Sendable, Hashable {
        /// It was done; this many bytes were freed or downloaded.
        case done(bytes: Int64)
        /// It would be done: this was a dry run.
        case planned
        /// There was nothing to do.
        case unneeded
        /// It was not done.
        case refused(EvictionError)
    }

    /// The file, as an absolute path.
    package let path: FilePath
    /// Its size in bytes; 0 when it could not be inspected.
    package var size: Int64 = 0
    /// The snapshot that contains or contained the content; nil when none was made.
    package var snapshot: String?
    /// What happened to it.
    package let end: End

    package init(path: FilePath, size: Int64 = 0, snapshot: String? = nil, end: End) {
        self.path = path
        self.size = size
        self.snapshot = snapshot
        self.end = end
    }

    /// Whether an action failed that would have had an effect.
    package var isFailure: Bool {
        guard case .refused(let error) = end else { return false }
        return error != .alreadyEvicted && error != .nothingToFree
    }
}

/// Works on files on several threads, since each step of an eviction or a download waits for the
/// disk, and reports the outcomes in the order of the files.
///
/// - Parameter work: returns nil for a file that was not begun, which is not reported.
func workOnSeveral<Item: Sendable>(
    _ items: [Item], _ report: @escaping @Sendable (EvictionOutcome) -> Void,
    _ work: @escaping @Sendable (Item) -> EvictionOutcome?
) async {
    let begun = Monitor(0)
    let outcomes = Monitor<[Int: EvictionOutcome?]>([:])
    let reported = Monitor(0)
    let workOff: @Sendable () -> Void = {
        while true {
            let number = begun.withLock { begun in
                begun += 1
                return begun - 1
            }
            guard number < items.count else { return }
            let outcome = work(items[number])
            outcomes.withLock { $0[number] = .some(outcome) }
            // One thread at a time reports.
            reported.withLock { reported in
                while let outcome = outcomes.withLock({ $0.removeValue(forKey: reported) }) {
                    if let outcome { report(outcome) }
                    reported += 1
                }
            }
        }
    }
    await withTaskGroup { group in
        for _ in 0..<min(8, items.count) {
            // It throws where no thread can be started: then this one does the work.
            group.addTask { try? await onOwnThread { _ in workOff() } }
        }
    }
    workOff()
}
