/// Reads the lines of `restic backup --json`.
struct BackupMessages: LineConsumer {
    /// What restic tells at the end.
    struct Summary: Sendable {
        /// The snapshot's identifier, or its first digits.
        var snapshot = ""
        /// Files that the predecessor did not have.
        var newFiles: Int64 = 0
        /// Files that are not as they were in the predecessor.
        var changedFiles: Int64 = 0
        /// Files that are as they were in the predecessor, and were not read again.
        var unchangedFiles: Int64 = 0
        /// The sizes of the files stored, in bytes.
        var processedBytes: Int64 = 0
        /// What the repository grew by, in bytes.
        var addedBytes: Int64 = 0
    }

    /// The summary; nil until the end.
    private(set) var summary: Summary?
    private let report: @Sendable (BackupProgress) -> Void

    init(_ report: @escaping @Sendable (BackupProgress) -> Void) { self.report = report }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        // Other lines than objects are words for people.
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
