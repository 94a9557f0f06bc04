import ResourceValues
import ResourceValuesDropIn
import Synchronization
import SystemCalls
import SystemPackage

/// Another thread that looks at a file again and again, and counts with and without a class.
final class Watcher: Sendable {
    private let counts = Monitor((withClass: 0, withoutClass: 0))
    private let isStopped = Atomic(false)
    private let file: FilePath

    init(_ file: FilePath) { self.file = file }

    /// What was seen so far.
    var seen: (withClass: Int, withoutClass: Int) { counts.withLock { $0 } }

    func start() {
        Thread.detachNewThread { [self] in
            while !isStopped.load(ordering: .relaxed) { look() }
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func look() {
        // Between two files there is none.
        guard let descriptor = try? openForReading(file) else { return }
        defer { closeIgnoringErrors(descriptor) }
        let mark = try? descriptor.mark(for: .fileProtection)
        counts.withLock { counts in
            if mark == .value(.protection(.complete)) {
                counts.withClass += 1
            } else {
                counts.withoutClass += 1
            }
        }
    }
}
