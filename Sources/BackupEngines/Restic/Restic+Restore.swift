import SystemCalls
import SystemPackage

extension Restic {
    /// restic reads all files back and compares the SHA-256 of each part with the snapshot. What it
    /// leaves undone is done afterwards: holes of sparse files, and extended attributes of read-only
    /// items of an ordinary user. Every item is looked at.
    package func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let target = try absolute(request.target)
        var command = ResticCommand(
            "restore", words("--verify") + [option("--target", target.bytes)],
            on: words(request.snapshot.identifier))
        if !request.includes.isEverything {
            command.options += request.includes.paths.map { option("--include", pattern($0)) }
        } else if let record = request.snapshot.recordPath {
            // restic takes one of the two options only.
            command.options.append(option("--exclude", pattern(record.top)))
        }
        let (_, end) = try await attempt(command, reading: NoOutput())
        guard end.code == 0 || isPartial(end) else { throw failure(end) }
        return try await finish(request, RestoreComplaints(end, target: target), report)
    }

    private func absolute(_ path: FilePath) throws(BackupError) -> FilePath {
        do throws(Errno) {
            return path.isAbsolute
                ? path : try workingDirectory().pushing(path).lexicallyNormalized()
        } catch {
            throw BackupError(.other, "the working directory cannot be found: \(error)")
        }
    }

    /// Removes the record, which comes along when an included directory holds it.
    private func removeRecord(_ request: RestoreRequest) throws(Errno) {
        guard !request.includes.isEverything, let record = request.snapshot.recordPath,
            request.includes.hold(record.path)
        else { return }
        do throws(Errno) {
            let tree = try TargetTree(request.target)
            let location = try tree.location(of: record.path)
            try removeItem(location.name, in: location.directory, isDirectory: false)
            if record.place != record.path {
                let directory = try tree.location(of: record.place)
                try removeItem(directory.name, in: directory.directory, isDirectory: true)
            }
            // The location is good as long as the tree is.
            withExtendedLifetime(tree) {}
        } catch .noSuchFileOrDirectory {
            // Nothing to remove.
        } catch .directoryNotEmpty {
            // The target had a directory of this name, which keeps what is in it.
        }
    }

    /// What the record tells about read-only items. Reading their directories' trees costs a process
    /// each, so only an ordinary user asks, and only for those that have attributes.
    private func attributedItems(
        of snapshot: Snapshot
    ) async throws(BackupError) -> AttributedItems? {
        guard effectiveUser() != 0, snapshot.recordPath != nil else { return nil }
        do throws(BackupError) {
            return try await readRecord(
                of: snapshot, with: AttributedItems(sources: snapshot.sources.map(\.bytes)))
        } catch  where error.code == .noRecord || error.code == .damaged {
            return nil
        }
    }

    /// Whether restic restored all it could and complained of single items.
    private func isPartial(_ end: ResticEnd) -> Bool {
        FailureText(end.errors.lines).line(containing: "There were ") != nil
    }

    private func finish(
        _ request: RestoreRequest, _ complaints: RestoreComplaints,
        _ report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let (snapshot, target) = (request.snapshot, request.target)
        let attributed = try await attributedItems(of: snapshot)
        let check: RestoreCheck
        var attributes: AttributeRestorer
        do throws(Errno) {
            try removeRecord(request)
            check = try RestoreCheck(
                target: target, request.includes, complaints, attributed: attributed,
                report: report)
            attributes = try AttributeRestorer(self, snapshot, target: target)
        } catch {
            throw BackupError(.other, "the target cannot be opened: \(error)", path: target)
        }
        let checked = try await readEntries(of: snapshot.identifier, with: check)
        for (directory, names) in checked.withoutAttributes {
            try await attributes.restore(names, in: directory)
        }
        return RestoreResult(
            snapshot: snapshot, items: checked.count,
            failures: checked.failures + attributes.failures,
            complaints: checked.complaints.unmatched)
    }
}

/// A pattern of restic's that matches a path and nothing else.
private func pattern(_ path: [UInt8]) -> [UInt8] {
    path.reduce(into: []) { pattern, byte in
        if "\\*?[".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
        pattern.append(byte)
    }
}
