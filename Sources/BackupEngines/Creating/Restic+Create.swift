import BackupPlanning
import SystemCalls
import SystemPackage

extension Restic {
    /// Makes a snapshot as a plan says, reads it back and compares it with the plan.
    ///
    /// - Parameters:
    ///   - plan: the plan, made by `planner` with a manifest.
    ///   - planner: names what is missing from the snapshot, should anything be.
    ///   - tags: tags to give the snapshot besides those that tell its SOURCEs.
    ///   - report: called a few times a second while restic reads.
    /// - Throws: ``BackupError`` when no snapshot was made or it could not be read back; what
    ///   planning throws.
    package func create(
        _ plan: BackupPlan, planner: BackupPlanner, tags: [String],
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> BackupResult {
        guard let manifest = plan.manifest else {
            throw BackupError(.other, "the plan has no manifest to compare a snapshot with")
        }
        let sourceTags = SourceTags(plan.sources)
        try await removeDeadLocks()
        let parent = try await snapshots(hostName: hostName(), tag: sourceTags.set).last
        let (summary, errors) = try await store(
            plan, tags: sourceTags.all + tags, parent: parent, report)
        let check = try await readEntries(
            of: summary.snapshot, with: SnapshotCheck(plan, manifest))
        var shortfalls = ShortfallList(plan)
        shortfalls.add(check.shortfalls)
        var unnamed = errors.droppedItemCount
        if check.manifest.missingCount > 0 {
            let names = try MissingItems.names(
                missingFrom: check.manifest, sources: plan.sources, planner: planner)
            shortfalls.add(names.map { Shortfall(path: $0, cause: causeOfAbsence($0)) })
            unnamed = max(unnamed, check.manifest.missingCount - names.count)
        }
        shortfalls.add(errors.items)
        return BackupResult(
            snapshot: summary.snapshot, storedItems: check.count,
            storedBytes: summary.processedBytes, newFiles: summary.newFiles,
            changedFiles: summary.changedFiles, unchangedFiles: summary.unchangedFiles,
            addedBytes: summary.addedBytes, shortfalls: shortfalls.sorted,
            unnamedShortfalls: unnamed,
            lostExclusions: check.lostExclusions)
    }

    private func store(
        _ plan: BackupPlan, tags: [String], parent: Snapshot?,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> (BackupMessages.Summary, ErrorOutput) {
        let selection = try plan.resticSelection()
        let excludes = try MemoryFile(selection.excludeFile)
        var arguments = words("backup", "--json")
        for tag in tags { arguments += words("--tag", tag) }
        if let parent { arguments += words("--parent", parent.identifier) }
        if !selection.excludeFile.isEmpty { arguments += words("--exclude-file") + [excludes.path] }
        let list: MemoryFile
        switch selection.targets {
        case .sources:
            list = try MemoryFile([])
            arguments += words("--") + plan.sources.map(\.bytes)
        case .list(let paths):
            list = try MemoryFile(paths)
            arguments += words("--files-from-raw") + [list.path]
        }
        let (output, end) = try await attempt(arguments, reading: Lines(BackupMessages(report)))
        // restic opened the lists by this process's descriptors.
        withExtendedLifetime((excludes, list)) {}
        guard end.code == 0 || end.code == incompleteCode else { throw failure(end) }
        guard let summary = output.consumer.summary, !summary.snapshot.isEmpty else {
            throw BackupError(.unexpectedAnswer, "restic backup did not name the new snapshot")
        }
        return (summary, end.errors)
    }
}

/// restic's exit code for a snapshot that lacks something it could not read.
private let incompleteCode: Int32 = 3
