import SystemCalls

/// The progress of one step of long work.
package struct BackupProgress: Sendable {
    /// What is counted in the step, in the plural, such as `files stored`.
    package var noun: StaticString
    /// The number of these that are done; nil where only bytes are known.
    package var filesDone: Int64? = 0
    /// The number found so far; 0 if unknown.
    package var filesTotal: Int64 = 0
    package var bytesDone: Int64 = 0
    /// The sizes of the files found so far, in bytes; 0 if unknown, and in a step without sizes.
    package var bytesTotal: Int64 = 0
}

extension BackupProgress {
    /// Parses a line such as `[0:05] 15.00%  3 / 20 packs`; nil for any other.
    init?(line: String) {
        guard line.utf8.first == UInt8(ascii: "["),
            let match = line.wholeMatch(
                of: /\[[0-9:]+\] +[0-9.]+% +([0-9]{1,18}) \/ ([0-9]{1,18}) ([a-z]+)[a-z ]*/),
            let done = Int64(match.1), let total = Int64(match.2), done <= total
        else { return nil }
        switch match.3 {
        case "packs": noun = "packs"
        case "snapshots": noun = "snapshots checked"
        default: noun = "steps"
        }
        filesDone = done
        filesTotal = total
    }
}

/// Counts what is done of one step, and reports it. Threads may share one.
final class StepCounter: Sendable {
    private let progress: Monitor<BackupProgress>
    private let report: @Sendable (BackupProgress) -> Void

    /// Begins a step with files of these sizes.
    convenience init(
        _ noun: StaticString, sizes: [Int64], _ report: @escaping @Sendable (BackupProgress) -> Void
    ) {
        let bytes = sizes.reduce(0 as Int64) { $0.addingSaturating($1) }
        self.init(noun, of: Int64(sizes.count), bytes: bytes, report)
    }

    /// Begins a step.
    ///
    /// - Parameters:
    ///   - noun: what is counted, in the plural, such as `files stored`.
    ///   - files: the number of these; 0 if unknown.
    ///   - bytes: their size, in bytes; 0 if unknown, or when none are counted.
    init(
        _ noun: StaticString, of files: Int64 = 0, bytes: Int64 = 0,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) {
        let start = BackupProgress(noun: noun, filesTotal: files, bytesTotal: bytes)
        progress = Monitor(start)
        self.report = report
        report(start)
    }

    func add(files: Int64 = 0, bytes: Int64 = 0) {
        report(
            progress.withLock {
                $0.filesDone? += files
                $0.bytesDone.addSaturating(bytes)
                return $0
            })
    }
}
