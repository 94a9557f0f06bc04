import BackupPlanning
import SystemCalls
import SystemPackage

extension Restic {
    package var longestPath: Int? { 4095 }
    package var repairsLinkTargets: Bool { true }
    package var repairsAttributeNames: Bool { true }

    package func recover() async throws(BackupError) { try await removeDeadLocks() }

    package func store(
        _ request: StoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> StoredSnapshot {
        let record = try RecordFile(
            request.record, name: RecordPath.fileName(SourceTags(request.plan.sources).fingerprint),
            outside: request.plan.sources)
        let (summary, errors) = try await store(request, record: record.path, report)
        // restic opens the record by its name.
        withExtendedLifetime(record) {}
        var stored = StoredSnapshot(identifier: summary.snapshot)
        stored.newFiles = summary.newFiles
        stored.changedFiles = summary.changedFiles
        stored.unchangedFiles = summary.unchangedFiles
        // The record is not one of the user's files.
        let isChanged = request.predecessor?.recordPath?.path == record.path.bytes
        if isChanged { stored.changedFiles -= 1 } else { stored.newFiles -= 1 }
        stored.addedBytes = summary.addedBytes
        stored.shortfalls = errors.items.map { Shortfall(path: $0.name, cause: cause($0)) }
        stored.unnamedShortfalls = errors.droppedItemCount
        return stored
    }

    private func cause(_ item: ErrorOutput.Item) -> Shortfall.Cause {
        switch item.errno {
        case nil: .refused
        case Int64(Errno.noSuchFileOrDirectory.rawValue): .vanished
        case let errno?: .unreadable(Errno(rawValue: CInt(clamping: errno)))
        }
    }

    private func store(
        _ request: StoreRequest, record: FilePath,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> (BackupMessages.Summary, ErrorOutput) {
        let plan = request.plan
        let selection = try plan.resticSelection()
        let excludes = try MemoryFile(excludeFile(of: selection, plan, including: record))
        var command = ResticCommand("backup", words("--json"))
        command.options += (request.tags + [RecordPath.tag(record)]).map { option("--tag", $0) }
        if let parent = request.predecessor {
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
        let (output, end) = try await attempt(command, reading: Lines(BackupMessages(report)))
        // restic opens the lists through this process's descriptors.
        withExtendedLifetime((excludes, list)) {}
        guard end.code == 0 || end.code == incompleteCode else { throw failure(end) }
        guard let summary = output.consumer.summary, !summary.snapshot.isEmpty,
            summary.snapshot.isHexadecimal
        else {
            throw BackupError(.unexpectedAnswer, "restic backup did not name the new snapshot")
        }
        return (summary, end.errors)
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

/// restic's exit code for a snapshot that lacks something it could not read.
private let incompleteCode: Int32 = 3
