/// Reads the lines of `restic backup --json`.
struct BackupMessages: LineConsumer {
    /// The summary that restic prints at the end.
    struct Summary: Sendable {
        /// The snapshot's identifier, or its first digits.
        var snapshot = ""
        /// The number of files that the predecessor did not contain.
        var newFiles: Int64 = 0
        /// The number of files that differ from those in the predecessor.
        var changedFiles: Int64 = 0
        /// The number of files that are the same as in the predecessor, and were not read again.
        var unchangedFiles: Int64 = 0
        /// The sizes of the files stored, in bytes.
        var processedBytes: Int64 = 0
        /// The number of bytes by which the repository grew.
        var addedBytes: Int64 = 0
    }

    /// The summary; nil until the end.
    private(set) var summary: Summary?
    private let report: @Sendable (BackupProgress) -> Void

    init(_ report: @escaping @Sendable (BackupProgress) -> Void) { self.report = report }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        // Lines that are not objects are messages for people.
        guard line.first == UInt8(ascii: "{") else { return }
        var kind = ""
        var progress = BackupProgress()
        var summary = Summary()
        var scanner = JSONScanner(line)
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                switch name {
                case "message_type": kind = try scanner.text()
                case "files_done": progress.filesDone = try scanner.amount()
                case "total_files": progress.filesTotal = try scanner.amount()
                case "bytes_done": progress.bytesDone = try scanner.amount()
                case "total_bytes": progress.bytesTotal = try scanner.amount()
                case "snapshot_id": summary.snapshot = try scanner.text()
                case "files_new": summary.newFiles = try scanner.amount()
                case "files_changed": summary.changedFiles = try scanner.amount()
                case "files_unmodified": summary.unchangedFiles = try scanner.amount()
                case "total_bytes_processed": summary.processedBytes = try scanner.amount()
                case "data_added": summary.addedBytes = try scanner.amount()
                default: break
                }
            }
        } catch {
            throw .unexpectedAnswer(error, to: "backup")
        }
        switch kind {
        case "status": report(progress)
        case "summary": self.summary = summary
        default: break
        }
    }
}
