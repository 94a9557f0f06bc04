import SystemCalls
import SystemPackage

extension Restic {
    /// Restores a snapshot, or parts of it, below a directory, where each item gets its whole path.
    ///
    /// What restic leaves undone is done afterwards: holes of sparse files, and extended attributes
    /// of read-only items of an ordinary user. Every item is looked at.
    ///
    /// - Parameters:
    ///   - choice: the snapshot.
    ///   - target: a directory that is empty or does not exist yet.
    ///   - includes: absolute paths in the snapshot to restore with all below them; none for
    ///     everything.
    ///   - overwrites: whether the target may hold files, which are overwritten.
    ///   - report: called now and then with the number of items looked at.
    /// - Throws: ``BackupError``: `targetNotEmpty`, `noSnapshot`, `noMatch`, or what restic ended
    ///   with. Trouble with single items is in the result.
    package func restore(
        _ choice: SnapshotChoice, to target: FilePath, including includes: [[UInt8]] = [],
        overwrites: Bool = false, report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        if !overwrites, try !isEmptyOrAbsent(target) {
            throw BackupError(
                .targetNotEmpty, "the target is not empty",
                advice: "name another, or overwrite what is there with --overwrite", path: target)
        }
        let snapshot = try await snapshot(choice)
        let included = IncludedPaths(includes)
        if !included.isEverything { try await checkMatches(of: included, in: snapshot) }
        let arguments =
            words("restore", snapshot.identifier, "--target") + [target.bytes] + included.arguments
        let (_, end) = try await attempt(arguments, reading: NoOutput())
        guard end.code == 0 || isPartial(end) else { throw failure(end) }
        return try await finish(
            snapshot, in: target, included, RestoreComplaints(end.errors), report)
    }

    private func checkMatches(
        of includes: IncludedPaths, in snapshot: Snapshot
    ) async throws(BackupError) {
        let finder = try await readEntries(
            of: snapshot.identifier, with: IncludedPaths.Finder(includes))
        guard let missing = finder.missing.first else { return }
        throw BackupError(
            .noMatch, "is not in snapshot \(snapshot.shortIdentifier)",
            advice: "give the whole path as it was backed up", path: FilePath(bytes: missing))
    }

    /// Whether restic restored all it could and complained of single items.
    private func isPartial(_ end: ResticEnd) -> Bool {
        FailureText(end.errors.lines).line(containing: "There were ") != nil
    }

    private func finish(
        _ snapshot: Snapshot, in target: FilePath, _ includes: IncludedPaths,
        _ complaints: RestoreComplaints, _ report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let check: RestoreCheck
        var attributes: AttributeRestorer
        do throws(Errno) {
            check = try RestoreCheck(target: target, includes, complaints, report: report)
            attributes = try AttributeRestorer(self, snapshot, target: target)
        } catch {
            throw BackupError(.other, "the target cannot be opened: \(error)", path: target)
        }
        let checked = try await readEntries(of: snapshot.identifier, with: check)
        for (directory, names) in checked.withoutAttributes {
            try await attributes.restore(names, in: directory)
        }
        let failures = (checked.failures + attributes.failures)
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
        return RestoreResult(snapshot: snapshot, items: checked.count, failures: failures)
    }
}
