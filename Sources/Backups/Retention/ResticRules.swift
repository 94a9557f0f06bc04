import SystemCalls
import SystemPackage

/// The rules for which snapshots are kept, with restic's names and meaning.
///
/// A count is the number of snapshots to keep by a rule; without one the rule keeps none, and `-1`
/// keeps all.
package struct RetentionRules: Sendable, Hashable {
    /// A rule that keeps the newest snapshot of each period.
    package enum Period: String, Sendable, Hashable, CaseIterable {
        case last, hourly, daily, weekly, monthly, yearly
    }

    /// The number of periods to keep by each rule.
    package var counts: [Period: Int] = [:]
    /// The span before the newest snapshot in which the newest snapshot of each period is kept;
    /// `last` keeps all.
    package var spans: [Period: CalendarSpan] = [:]
    /// Lists of tags; snapshots with all tags of one of the lists are kept.
    package var tags: [[String]] = []

    package init() {}

    /// Whether there are no rules, so that nothing would be kept.
    package var isEmpty: Bool { counts.isEmpty && spans.isEmpty && tags.isEmpty }

    /// The options of `restic forget`.
    var options: [[UInt8]] {
        let periods = Period.allCases
        return periods.compactMap { period in
            counts[period].map { option("--keep-\(period.rawValue)", "\($0)") }
        }
            + periods.compactMap { period in
                let name = period == .last ? "--keep-within" : "--keep-within-\(period.rawValue)"
                return spans[period].map { option(name, $0.text) }
            }
            + tags.map { option("--keep-tag", $0.joined(separator: ",")) }
    }
}

/// A length of time on the calendar, in restic's notation: `1y6m7d12h`.
package struct CalendarSpan: Sendable, Hashable {
    let text: String

    /// Parses numbers, each followed by `y`, `m`, `d` or `h`; nil for anything else, and for no time at
    /// all, by which restic would keep nothing.
    package init?(_ text: String) {
        guard text.wholeMatch(of: /([0-9]{1,5}[ymdh])+/) != nil,
            text.contains(where: "123456789".contains)
        else { return nil }
        self.text = text
    }
}

extension Restic {
    /// Returns restic's reasons for each snapshot that its policy keeps, by identifier.
    func resticsReasons(
        _ rules: RetentionRules, _ tags: String
    ) async throws(BackupError) -> [String: [String]] {
        let command = ResticCommand(
            "forget",
            rules.options + [option("--tag", tags), option("--group-by", "")]
                + words("--dry-run", "--no-lock", "--no-cache", "--json"))
        let (output, end) = try await attempt(command, reading: WholeOutput())
        guard end.code == 0 else { throw failure(end) }
        // "Ignoring …" is no failure to restic.
        if let line = end.errors.lines.first {
            throw BackupError(
                .unexpectedAnswer,
                "restic forget said: \(NameEscaping.text(Array(line.utf8)))",
                advice: "run the command again")
        }
        // Without a match nothing is printed.
        if output.bytes.isEmpty { return [:] }
        var scanner = JSONScanner(output.bytes[...], hasLostBytes: false)
        do throws(JSONError) {
            return try scanner.forgetReasons()
        } catch {
            throw .unexpectedAnswer(error, to: "forget")
        }
    }
}

extension JSONScanner {
    /// Parses the array that `restic forget --json` prints: why each snapshot is kept, by identifier.
    mutating func forgetReasons() throws(JSONError) -> [String: [String]] {
        var kept: [String: [String]] = [:]
        try forEachElement { scanner throws(JSONError) in
            try scanner.forEachField { scanner, name throws(JSONError) in
                guard name == "reasons", try !scanner.takesNull() else { return }
                try scanner.forEachElement { scanner throws(JSONError) in
                    let (identifier, reasons) = try scanner.forgetReason()
                    kept[identifier] = reasons
                }
            }
        }
        return kept
    }

    /// Parses an object that says why restic keeps a snapshot.
    fileprivate mutating func forgetReason() throws(JSONError) -> (String, [String]) {
        var (identifier, reasons) = ("", [String]())
        try forEachField { scanner, name throws(JSONError) in
            switch name {
            case "snapshot":
                try scanner.forEachField { scanner, name throws(JSONError) in
                    if name == "id" { identifier = try scanner.text() }
                }
            case "matches": reasons = try scanner.texts()
            default: break
            }
        }
        return (identifier, reasons)
    }
}

extension Restic {
    /// Removes snapshots. If the disk is so full that no lock can be written, their files are
    /// deleted directly, as restic itself would do, to free space.
    package func remove(_ snapshots: [Snapshot]) async throws(BackupError) {
        guard !snapshots.isEmpty else { return }
        // Includes what a killed `tag` left of them, which would otherwise be listed again.
        let removed = Set(snapshots.flatMap { [$0.itself, $0.copied] })
        let identifiers = try await listAll().snapshots
            .filter { removed.contains($0.itself) }.map(\.identifier)
        // A number of identifiers that safely fits on a command line.
        for start in stride(from: 0, to: identifiers.count, by: 1000) {
            let part = Array(identifiers[start..<min(start + 1000, identifiers.count)])
            let command = ResticCommand("forget", on: part.map { Array($0.utf8) })
            let (_, end) = try await attempt(command, reading: NoOutput())
            guard end.code != 0 else { continue }
            let failure = failure(end)
            guard failure.code == .noSpace, let directory = repository.directory,
                try isEmptyOrAbsent(directory.appending("locks"))
            else { throw failure }
            for identifier in part { try removeFile(of: identifier, in: directory) }
        }
        let left = try await listAll().snapshots.map(\.itself)
        guard removed.isDisjoint(with: left) else { throw .undone("forget") }
    }

    private func removeFile(
        of snapshot: String, in directory: FilePath
    ) throws(BackupError) {
        let file = directory.appending("snapshots").appending(snapshot)
        do throws(Errno) {
            try SystemCalls.removeFile(file)
        } catch .noSuchFileOrDirectory {
            // Another process has already removed it.
        } catch {
            throw BackupError(.notWritable, "a snapshot cannot be removed: \(error)", path: file)
        }
    }

    /// Removes unneeded data. On a full disk, only packs without any needed data are removed, which
    /// takes hardly any space.
    package func prune() async throws(BackupError) {
        do throws(BackupError) {
            try await prune([])
        } catch  where error.code == .noSpace {
            do throws(BackupError) {
                try await prune(words("--max-repack-size=0"))
            } catch  where error.code == .noSpace {
                var failure = error
                failure.advice =
                    "remove other files there, or a snapshot that is not needed, and run it again; the "
                    + "last resort: restic prune --unsafe-recover-no-free-space"
                throw failure
            }
        }
    }

    private func prune(_ options: [[UInt8]]) async throws(BackupError) {
        let output = try await run(
            ResticCommand("prune", options),
            reading: Lines(TextLines(report: progress)))
        guard output.consumer.lines.last == "done" else { throw .undone("prune") }
    }
}

extension BackupError {
    fileprivate static func undone(_ command: String) -> BackupError {
        BackupError(
            .unexpectedAnswer, "restic \(command) succeeded, but did not do what was asked",
            advice: "run the command again")
    }
}
