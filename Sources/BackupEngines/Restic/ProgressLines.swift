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
