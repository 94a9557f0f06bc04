import BackupPlanning
import SystemCalls
import SystemPackage

extension Restic {
    /// The longest path, in bytes, that restic can open.
    static let longestPath = 4095

    /// Stores the items of a plan as a new snapshot, with its record and tags.
    ///
    /// A snapshot appears whole or not at all, even when this process is killed.
    ///
    /// - Parameters:
    ///   - tags: all tags of the snapshot.
    ///   - parent: an earlier snapshot of the SET, whose files need not be read again where they have not
    ///     changed; nil for none.
    ///   - record: the text of its record.
    ///   - name: of the record's file.
    ///   - named: checks off the items that restic names as stored.
    ///   - report: called a few times a second while files are read.
    /// - Throws: ``BackupError`` when no snapshot was made. Failures of single items are in the result.
    func store(
        _ plan: BackupPlan, tags: [String], parent: Snapshot?, record text: [UInt8],
        named name: String, checkingOff named: NamedItems,
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> (BackupSummary, NamedItems, ErrorOutput) {
        let excluded = PathSet(plan.exclusions.map(\.path.bytes))
        let record = try RecordFile(
            text, name: name,
            in: recordDirectories.filter { !excluded.contains($0.bytes) })
        let totals = plan.totals
        report(BackupProgress(noun: "files stored").limited(to: totals))
        let messages = BackupMessages(checkingOff: named, record: record.path.bytes) { progress in
            // restic counts the record, too, and only what it has found so far.
            report(progress.limited(to: totals))
        }
        let (output, errors, isCompared) = try await store(
            plan, tags: tags, parent: parent, record: record.path, messages)
        // restic opens the record by its name.
        withExtendedLifetime(record) {}
        var summary = try output.newSnapshot
        guard output.hasRecord else {
            throw BackupError(
                .other,
                "snapshot \(summary.snapshot.prefix(8)) has no record of what is excluded: its file was "
                    + "removed before restic read it",
                advice: "run the command again", path: record.path)
        }
        // The record is not one of the user's files.
        let isChanged = parent?.recordPath?.path == record.path.bytes
        if isChanged { summary.changedFiles -= 1 } else { summary.newFiles -= 1 }
        summary.storedBytes = max(0, summary.storedBytes - Int64(text.count))
        guard var named = output.named else { throw BackupError(.other, "no item was checked off") }
        named.isCompared = isCompared
        return (summary, named, errors)
    }

    private func store(
        _ plan: BackupPlan, tags: [String], parent: Snapshot?, record: FilePath,
        _ messages: BackupMessages
    ) async throws -> (BackupMessages, ErrorOutput, isCompared: Bool) {
        let selection = try plan.resticSelection()
        let excludes = try MemoryFile(excludeFile(of: selection, plan, including: record))
        // With a scan each complaint would come twice.
        var command = ResticCommand(
            "backup",
            words("--json", "--verbose=2", "--no-scan") + [option("--host", hostName())])
        command.options += (tags + [RecordPath.tag(record)]).map { option("--tag", $0) }
        if let parent {
            command.options.append(option("--parent", parent.identifier))
        } else {
            // Otherwise restic searches all snapshots for a parent, and fails at a damaged one.
            command.options += words("--force")
        }
        if !selection.excludeFile.isEmpty {
            command.options.append(option("--exclude-file", excludes.path))
        }
        let list: MemoryFile
        switch selection.targets {
        case .sources:
            list = try MemoryFile([])
            command.operands = plan.sources.map(\.bytes) + [record.bytes]
        case .list(let paths):
            list = try MemoryFile(paths + record.bytes + [0])
            command.options.append(option("--files-from-raw", list.path))
        }
        let (output, end) = try await attempt(command, reading: Lines(messages))
        // restic opens the lists through this process's descriptors.
        withExtendedLifetime((excludes, list)) {}
        guard end.code == 0 || end.code == incompleteCode else {
            // Another client may have removed the predecessor since.
            if let parent, end.errors.tellsOfUnreadable(parent) {
                return try await store(plan, tags: tags, parent: nil, record: record, messages)
            }
            throw failure(end)
        }
        var errors = end.errors
        if end.code == incompleteCode, errors.isSilent, let source = plan.sources.first {
            errors.add(unnamedComplaintAbout: source)
        }
        return (output.consumer, errors, parent != nil)
    }

    /// Returns the selection's patterns, followed by a negated one for the record if they would
    /// exclude it.
    private func excludeFile(
        of selection: ResticSelection, _ plan: BackupPlan, including record: FilePath
    ) -> [UInt8] {
        let isExcluded = plan.exclusions.contains { record.starts(with: $0.path) }
        guard isExcluded else { return selection.excludeFile }
        return selection.excludeFile + [UInt8(ascii: "!")] + record.bytes + [UInt8(ascii: "\n")]
    }
}

extension BackupProgress {
    /// The progress towards the totals of a plan.
    fileprivate func limited(to totals: PlanTotals) -> BackupProgress {
        var progress = self
        progress.filesTotal = Int64(totals.storedFiles)
        progress.filesDone = min(filesDone ?? 0, progress.filesTotal)
        progress.bytesTotal = totals.storedBytes
        progress.bytesDone = min(bytesDone, totals.storedBytes)
        return progress
    }
}

/// restic's exit code for a snapshot that lacks something it could not read.
private let incompleteCode: Int32 = 3

/// The summary that restic prints at the end of a backup.
package struct BackupSummary: Sendable {
    /// The identifier of the new snapshot.
    package fileprivate(set) var snapshot = ""
    /// The number of files that the parent did not contain.
    package fileprivate(set) var newFiles: Int64 = 0
    /// The number of files that differ from those in the parent.
    package fileprivate(set) var changedFiles: Int64 = 0
    /// The number of files that are the same as in the parent, and were not read again.
    package fileprivate(set) var unchangedFiles: Int64 = 0
    /// The sizes of the files stored, in bytes.
    package fileprivate(set) var storedBytes: Int64 = 0
    /// The number of bytes by which the repository grew.
    package fileprivate(set) var addedBytes: Int64 = 0
}

/// Reads the lines of `restic backup --json --verbose=2`.
struct BackupMessages: LineConsumer {
    /// The summary; nil until the end.
    private var summary: BackupSummary?

    /// The summary, when restic has ended.
    ///
    /// - Throws: ``BackupError`` when it does not name a snapshot.
    var newSnapshot: BackupSummary {
        get throws(BackupError) {
            guard let summary, !summary.snapshot.isEmpty, summary.snapshot.isHexadecimal else {
                throw BackupError(.unexpectedAnswer, "restic backup did not name the new snapshot")
            }
            return summary
        }
    }
    /// The items that restic named as stored; nil when they are not wanted.
    private(set) var named: NamedItems?
    /// Whether restic named the snapshot's record.
    private(set) var hasRecord = false
    private let record: [UInt8]
    private let report: @Sendable (BackupProgress) -> Void

    init(
        checkingOff named: NamedItems? = nil, record: [UInt8] = [],
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) {
        self.named = named
        self.record = record
        self.report = report
    }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        // Lines that are not objects are messages for people.
        guard line.first == UInt8(ascii: "{") else { return }
        var (kind, action, item) = ("", "", [UInt8]())
        var progress = BackupProgress(noun: "files stored")
        var summary = BackupSummary()
        var scanner = JSONScanner(line)
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                switch name {
                case "message_type": kind = try scanner.text()
                case "action": action = try scanner.text()
                case "item": item = try scanner.string()
                case "files_done": progress.filesDone = try scanner.amount()
                case "total_files": progress.filesTotal = try scanner.amount()
                case "bytes_done": progress.bytesDone = try scanner.amount()
                case "total_bytes": progress.bytesTotal = try scanner.amount()
                case "snapshot_id": summary.snapshot = try scanner.text()
                case "files_new": summary.newFiles = try scanner.amount()
                case "files_changed": summary.changedFiles = try scanner.amount()
                case "files_unmodified": summary.unchangedFiles = try scanner.amount()
                case "total_bytes_processed": summary.storedBytes = try scanner.amount()
                case "data_added": summary.addedBytes = try scanner.amount()
                default: break
                }
            }
        } catch {
            throw .unexpectedAnswer(error, to: "backup")
        }
        switch kind {
        case "verbose_status" where ["new", "modified", "unchanged"].contains(action):
            if item == record {
                hasRecord = true
            } else {
                named?.receive(item, isKnown: action != "new")
            }
        case "status": report(progress)
        case "summary": self.summary = summary
        default: break
        }
    }
}

/// A list for restic that is only in memory: it needs no disk space, no other user can read it, and
/// nothing is left behind when this process is killed.
final class MemoryFile: Sendable {
    private let file: OwnedDescriptor

    var descriptor: FileDescriptor { file.descriptor }

    /// Creates the file with its contents.
    ///
    /// - Throws: ``BackupError`` when there is not enough memory.
    init(_ contents: [UInt8]) throws(BackupError) {
        do throws(Errno) {
            file = OwnedDescriptor(try makeMemoryFile("resval-backup-list"))
        } catch {
            throw BackupError(.other, "a list for restic cannot be made: \(error)")
        }
        do throws(Errno) {
            try writeFile(file.descriptor, contents)
        } catch {
            throw BackupError(.other, "a list for restic cannot be written: \(error)")
        }
    }

    /// The path by which another process of this user can open the file while this object exists.
    var path: [UInt8] { Array("/proc/\(processNumber())/fd/\(file.descriptor.rawValue)".utf8) }
}
