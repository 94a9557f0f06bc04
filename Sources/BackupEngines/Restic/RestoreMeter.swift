import SystemCalls

/// Measures a restore by what restic has written and then, when it compares, read. The sizes of the
/// files do not tell, since restic allocates them first.
///
/// What restic writes to its cache counts, too. It has little beside the content of files.
final class RestoreMeter: Sendable {
    private struct State {
        /// What restic had read when it began to compare; nil while it restores.
        var start: ProcessTraffic?
        var latest = ProcessTraffic()
    }

    private let state = Monitor(State())
    private let totalBytes: Int64
    private let report: @Sendable (BackupProgress) -> Void

    /// Begins to measure.
    ///
    /// - Parameter totalBytes: the size of the files to restore, in bytes; 0 if unknown.
    init(totalBytes: Int64, _ report: @escaping @Sendable (BackupProgress) -> Void) {
        self.totalBytes = totalBytes
        self.report = report
        tell(.contentRestored, 0)
    }

    /// Reports what restic has done so far.
    func note(_ traffic: ProcessTraffic) {
        let start = state.withLock { state in
            state.latest = traffic
            return state.start
        }
        if let start {
            tell(.contentCompared, traffic.readBytes - start.readBytes)
        } else {
            tell(.contentRestored, traffic.writtenBytes)
        }
    }

    /// Notes that restic begins to compare what it restored with the snapshot.
    func beginComparison() {
        state.withLock { $0.start = $0.latest }
        tell(.contentCompared, 0)
    }

    private func tell(_ step: BackupProgress.Step, _ bytes: Int64) {
        report(
            BackupProgress(
                step: step, bytesDone: totalBytes > 0 ? min(bytes, totalBytes) : bytes,
                bytesTotal: totalBytes))
    }
}

/// Reads what `restic restore` prints.
struct RestoreLines: LineConsumer {
    let meter: RestoreMeter

    func receive(line: ArraySlice<UInt8>) {
        if line.starts(with: "verifying files in ".utf8) { meter.beginComparison() }
    }
}
