/// Tells how far a backup has come, a few times a second, and whether it is to stop.
final class StoreProgress {
    private var state: BackupProgress
    private var next = ContinuousClock.now
    private let report: (BackupProgress) -> Void
    private let stopRequest: () -> Bool

    /// - Parameters:
    ///   - total: with the totals filled in.
    ///   - isStopped: whether the work is to end.
    init(
        _ total: BackupProgress, report: @escaping (BackupProgress) -> Void,
        isStopped: @escaping () -> Bool
    ) {
        state = total
        self.report = report
        stopRequest = isStopped
    }

    /// Whether the work is to end.
    var isStopped: Bool { stopRequest() }

    /// Notes that a file is done.
    func addFile() {
        state.filesDone += 1
        tell()
    }

    /// Notes that bytes were read.
    ///
    /// - Returns: whether the work is to end.
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
