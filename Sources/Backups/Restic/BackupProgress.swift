import SystemCalls

/// The progress of one step of long work.
package struct BackupProgress: Sendable, Hashable {
    /// The steps, by what is counted in them.
    package enum Step: Sendable, Hashable {
        case filesStored, filesRead, filesEvicted, filesDownloaded
        case itemsCompared, itemsListed
        /// Only bytes are known.
        case contentRestored
        case snapshotsChecked, packsRead, others
    }

    /// The step.
    package var step = Step.filesStored
    /// The number of files, or of what else the step counts, that are done.
    package var filesDone: Int64 = 0
    /// The number found so far; 0 if unknown.
    package var filesTotal: Int64 = 0
    /// The number of bytes done.
    package var bytesDone: Int64 = 0
    /// The sizes of the files found so far, in bytes; 0 if unknown, and in a step without sizes.
    package var bytesTotal: Int64 = 0
}

/// Counts what is done of one step, and reports it. Threads may share one.
final class StepCounter: Sendable {
    private let progress: Monitor<BackupProgress>
    private let report: @Sendable (BackupProgress) -> Void

    convenience init(
        _ step: BackupProgress.Step, sizes: some Sequence<Int64>,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) {
        var (files, bytes) = (Int64(0), Int64(0))
        for size in sizes {
            files += 1
            bytes.addSaturating(size)
        }
        self.init(step, of: files, bytes: bytes, report)
    }

    /// Begins a step.
    ///
    /// - Parameters:
    ///   - files: the number of files, or of what else the step counts; 0 if unknown.
    ///   - bytes: their size, in bytes; 0 if unknown, or when none are counted.
    init(
        _ step: BackupProgress.Step, of files: Int64, bytes: Int64 = 0,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) {
        let start = BackupProgress(step: step, filesTotal: files, bytesTotal: bytes)
        progress = Monitor(start)
        self.report = report
        report(start)
    }

    func add(files: Int64 = 0, bytes: Int64 = 0) {
        report(
            progress.withLock {
                $0.filesDone += files
                $0.bytesDone.addSaturating(bytes)
                return $0
            })
    }
}

/// Passes entries on, and counts them for the progress.
package struct CountedEntries<Handler: SnapshotEntryHandler>: SnapshotEntryHandler {
    /// The handler of the entries.
    package var handler: Handler
    private let counter: StepCounter

    /// Creates a handler.
    ///
    /// - Parameter engine: reads the entries, and reports their number.
    package init(_ handler: Handler, _ engine: Restic) {
        self.handler = handler
        counter = StepCounter(.itemsListed, of: 0, engine.progress)
    }

    package mutating func receive(_ entry: SnapshotEntry) throws(BackupError) {
        counter.add(files: 1)
        try handler.receive(entry)
    }
}

/// Passes on the lines that restic prints, except those about its progress, which it reports.
struct ProgressLines<Consumer: LineConsumer>: LineConsumer {
    private(set) var consumer: Consumer
    private let report: @Sendable (BackupProgress) -> Void

    init(_ consumer: Consumer, report: @escaping @Sendable (BackupProgress) -> Void) {
        self.consumer = consumer
        self.report = report
    }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        if let progress = BackupProgress(line: line) {
            report(progress)
        } else {
            try consumer.receive(line: line)
        }
    }
}

extension BackupProgress {
    /// Parses a line such as `[0:05] 15.00%  3 / 20 packs`; nil for any other.
    init?(line: ArraySlice<UInt8>) {
        guard line.first == UInt8(ascii: "["), line.count < 200 else { return nil }
        let words = line.split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 6, words[0].hasSuffix("]"), words[1].hasSuffix("%"), words[3] == "/",
            let done = Int64(words[2]), let total = Int64(words[4]), 0 <= done, done <= total
        else { return nil }
        filesDone = done
        filesTotal = total
        switch words[5] {
        case "packs": step = .packsRead
        case "snapshots": step = .snapshotsChecked
        default: step = .others
        }
    }
}
