/// Reports the progress of a backup a few times a second, and whether to stop.
final class StoreProgress {
    private var state: BackupProgress
    private var next = ContinuousClock.now
    private let report: (BackupProgress) -> Void
    private let stopRequest: () -> Bool

    /// Creates a reporter.
    ///
    /// - Parameters:
    ///   - total: the progress at the start, with the totals filled in.
    ///   - isStopped: whether to stop the work.
    init(
        _ total: BackupProgress, report: @escaping (BackupProgress) -> Void,
        isStopped: @escaping () -> Bool
    ) {
        state = total
        self.report = report
        stopRequest = isStopped
    }

    /// Whether to stop the work.
    var isStopped: Bool { stopRequest() }

    /// Records that a file is done.
    func addFile() {
        state.filesDone += 1
        tell()
    }

    /// Records that bytes were read.
    ///
    /// - Returns: whether to stop the work.
    func add(bytes count: Int) -> Bool {
        state.bytesDone += Int64(count)
        tell()
        return isStopped
    }

    private func tell() {
        let now = ContinuousClock.now
        guard now >= next else { return }
        next = now + .milliseconds(200)
        report(state)
    }
}
