import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

package enum ForgetScope: Sendable, Hashable {
    /// Those of a configuration, where there are any, or else of the only SET that this installation
    /// makes.
    case onlySet(preferring: String?)
    /// Those of each SET that this installation makes, SET by SET.
    case everySet
    case configuration(String)
}

extension Restic {
    /// Removes the snapshots of this installation that neither restic's rules nor holds keep.
    ///
    /// What was found out about snapshots is written to their tags first, which gives them other
    /// identifiers.
    ///
    /// - Throws: ``BackupError``: `noSnapshot` when there are none of the configuration,
    ///   `ambiguousSources` when there are several SETs and none was chosen; as ``requireKnown()`` does.
    package func forget(
        by rules: RetentionRules, _ scope: ForgetScope, isDryRun: Bool
    ) async throws(BackupError) -> [ForgetDecision] {
        if !isDryRun { try await requireKnown() }
        let decisions = try await forgetDecisions(rules, scope, isDryRun: isDryRun)
        let removed = decisions.filter { !$0.isKept }.map(\.snapshot)
        guard !isDryRun, !removed.isEmpty else { return decisions }
        // The records of which files they contain go first; those of other SOURCEs are made again with their
        // next snapshot. Where one may be left, no snapshot is removed.
        do throws(FileError) {
            try storedFileRecords?.remove(
                repository.fingerprint,
                except: Set(decisions.filter(\.isKept).map(\.snapshot.identifier)))
        } catch {
            throw backupError(error)
        }
        try await remove(removed)
        return decisions
    }

    private func forgetDecisions(
        _ rules: RetentionRules, _ scope: ForgetScope, isDryRun: Bool
    ) async throws(BackupError) -> [ForgetDecision] {
        var all = try await list()
        var own = ownSnapshots(among: all)
        var chosen = try own.sets(scope)
        let before = chosen.flatMap(\.snapshots)
        if isDryRun, before.contains(where: \.hasVerdictToWrite) {
            warn(
                "what was found out about snapshots is not in the repository yet, so others may be kept"
            )
        } else if try await writeVerdicts(on: before) {
            all = try await list()
            own = ownSnapshots(among: all)
            chosen = try own.sets(scope)
        }
        let after = Dictionary(own.snapshots.map { ($0.recordHash, $0) }, uniquingKeysWith: { $1 })
        for snapshot in before {
            guard let now = after[snapshot.recordHash], now.identifier != snapshot.identifier
            else { continue }
            storedFileRecords?.rename(
                repository.fingerprint, snapshot.identifier, to: now.identifier)
        }
        var decisions: [ForgetDecision] = []
        for set in chosen {
            decisions += try await forgetDecisions(rules, set, among: all)
        }
        return decisions.reversed()
    }

    private func forgetDecisions(
        _ rules: RetentionRules, _ set: SnapshotList.OneSet, among all: SnapshotList
    ) async throws(BackupError) -> [ForgetDecision] {
        guard let newest = set.snapshots.last else { return [] }
        var holds: [Hold] = []
        var obstacle = obstacle(to: set, among: all)
        if obstacle == nil {
            do throws(BackupError) {
                holds = try await recorded(newest).holds
            } catch  where error.code.mayConcernOneSnapshot {
                obstacle =
                    "of snapshot \(newest.shortIdentifier): \(error.message) (make a backup)"
            }
        }
        var kept: [String: [String]] = [:]
        for tags in [set.name.tag, "\(set.name.tag),\(StateTag.judged)"] where obstacle == nil {
            kept.merge(try await resticsReasons(rules, tags)) { first, _ in first }
        }
        let decisions =
            obstacle.map(set.snapshots.allKept)
            ?? set.snapshots.forgetDecisions(
                keptByRules: kept, holds: holds, now: FileTime.now.seconds)
        if let obstacle = decisions.first?.obstacle { warn("nothing is removed: \(obstacle)") }
        return decisions
    }

    /// Writes what was found out about snapshots to their tags, as far as it is not there. Takes the tag of
    /// those away that were judged with another tree, as `restic rewrite` leaves them.
    ///
    /// - Returns: whether some have other identifiers now.
    @discardableResult
    func writeVerdicts(on snapshots: [Snapshot]) async throws(BackupError) -> Bool {
        var isChanged = false
        for snapshot in snapshots where snapshot.hasVerdictToWrite {
            let tags = [StateTag.judged, StateTag.judgedTree(snapshot.root)]
            let added = tags + (snapshot.isIncomplete ? [StateTag.incomplete] : [])
            let options =
                snapshot.isJudged
                ? added.map { option("--add", $0) } : [option("--remove", StateTag.judged)]
            _ = try await run(
                ResticCommand("tag", options, on: words(snapshot.identifier)),
                reading: NoOutput())
            isChanged = true
        }
        return isChanged
    }

    /// Why nothing of a SET may be removed, in words; nil if nothing is in the way.
    private func obstacle(to set: SnapshotList.OneSet, among all: SnapshotList) -> String? {
        if let damaged = all.unreadable.first {
            return "it may be the one made last: \(damaged.sentence)"
        }
        // restic's rules would count them.
        if let foreign = all.snapshots.first(where: {
            $0.allTags.contains(set.name.tag) && $0.set != set.name && !$0.isPinned
        }) {
            return
                "snapshot \(foreign.shortIdentifier) has the tag \(set.name.tag), and is not one of these "
                + "(take it away: restic tag --remove)"
        }
        if let other = set.snapshots.first(where: { !isNoted($0) }) {
            return
                "snapshot \(other.shortIdentifier) was not made here: the state directory is not the one it "
                + "was, or another machine uses a copy of it (if no other machine made it: resval-backup accept)"
        }
        return nil
    }

    /// Returns the holds that a snapshot has, and the snapshots that they keep.
    ///
    /// - Throws: ``BackupError``: `noRecord`, `damaged`.
    package func heldSnapshots(
        by snapshot: Snapshot, among list: SnapshotList
    ) async throws(BackupError) -> [HeldPart] {
        guard snapshot.set != nil else { return [] }
        let set = list.snapshots.filter { $0.set == snapshot.set }
        return try await recorded(snapshot).held(among: set)
    }
}

package struct ForgetDecision: Sendable, Hashable {
    package let snapshot: Snapshot
    /// The reasons to keep it; empty if it is removed.
    package let reasons: [String]
    /// Why nothing of the SET is removed, in words; nil where nothing is in the way.
    package var obstacle: String?

    package var isKept: Bool { !reasons.isEmpty }
}

extension Snapshot {
    fileprivate var hasVerdictToWrite: Bool { isJudged != allTags.contains(StateTag.judged) }
}

extension [Snapshot] {
    fileprivate func allKept(_ obstacle: String) -> [ForgetDecision] {
        map { ForgetDecision(snapshot: $0, reasons: ["nothing is removed"], obstacle: obstacle) }
    }

    /// Decides which snapshots of a SET to forget: none while one is dated in the future, or after the one
    /// made last.
    ///
    /// - Parameters:
    ///   - keptByRules: restic's reasons for each snapshot that at least one of its dry runs keeps, by
    ///     identifier. Nothing is removed if it keeps none.
    ///   - holds: those of the snapshot made last.
    ///   - now: seconds since 1970.
    func forgetDecisions(
        keptByRules: [String: [String]], holds: [Hold], now: Int64
    ) -> [ForgetDecision] {
        let last = self.max { ($0.number, $0.time) < ($1.number, $1.time) }?.time.seconds ?? now
        if let wrong = first(where: { $0.time.seconds > Swift.min(now, last) }) {
            let isAhead = wrong.time.seconds > now
            return allKept(
                "snapshot \(wrong.shortIdentifier) is dated "
                    + (isAhead ? "in the future" : "after the one made last")
                    + " (where this machine's clock is right: resval-backup accept)")
        }
        guard contains(where: { keptByRules[$0.identifier] != nil }) else {
            return allKept("restic's rules keep none (tag one as keep-tags says, or add a rule)")
        }
        let newest = self.lazy.map(\.number).max()
        let newestWhole = self.lazy.filter(\.isJudged).map(\.number).max()
        let firstAfterClock = holds.lazy.filter { $0.kind == .clock }.map(\.number).max() ?? .min
        let held = Dictionary(grouping: holds.lazy.filter { $0.kind != .clock }, by: \.number)
        let alike = Dictionary(grouping: self, by: \.recordHash)
        return map { snapshot in
            var reasons = keptByRules[snapshot.identifier] ?? []
            if reasons.isEmpty, snapshot.number == newest { reasons.append("made last") }
            if reasons.isEmpty, snapshot.number == newestWhole {
                reasons.append("newest that was compared with the disk")
            }
            if reasons.isEmpty, newestWhole == nil { reasons.append("none was compared") }
            if let holds = held[snapshot.number] { reasons.append(holds.reason) }
            if snapshot.number < firstAfterClock {
                reasons.append("held: made before the clock jumped")
            }
            // A copy that another program made, maybe with less in it.
            if let hash = snapshot.recordHash,
                alike[hash, default: []].contains(where: { $0.root != snapshot.root })
            {
                reasons.append("another one has the same record")
            }
            return ForgetDecision(snapshot: snapshot, reasons: reasons)
        }
    }
}

extension [Hold] {
    fileprivate var reason: String {
        let part = first.map { NameEscaping.text($0.part) } ?? ""
        return "held for \(part)\(count > 1 ? " and \(count - 1) more" : "")"
    }
}

/// The rules for which snapshots are kept, with restic's names and meaning.
///
/// A count is the number of snapshots to keep by a rule; without one the rule keeps none, and `-1`
/// keeps all.
package struct RetentionRules: Sendable, Hashable {
    /// A rule that keeps the newest snapshot of each period.
    package enum Period: String, Sendable, Hashable, CaseIterable {
        case last, hourly, daily, weekly, monthly, yearly
    }

    package var counts: [Period: Int] = [:]
    /// The span before the newest snapshot in which the newest snapshot of each period is kept;
    /// `last` keeps all.
    package var spans: [Period: CalendarSpan] = [:]
    /// Lists of tags; snapshots with all tags of one of the lists are kept.
    package var tags: [[String]] = []

    package init() {}

    package var isEmpty: Bool { counts.isEmpty && spans.isEmpty && tags.isEmpty }

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
        // [{"keep": [SNAPSHOT…], "remove": [SNAPSHOT…], "reasons": [REASON…]}]: only the latter name one.
        let reader = ElementReader(of: "forget", level: 3) { json throws(JSONError) in
            var scanner = JSONScanner(json, hasLostBytes: false)
            return try scanner.forgetReason()
        }
        let (output, end) = try await attempt(command, reading: reader)
        // Rules that keep none are a failure to restic.
        if end.errors.line(containing: "refusing to delete last snapshot") != nil { return [:] }
        guard end.code == 0 else { throw failure(end) }
        // "Ignoring …" is no failure to restic.
        if let line = end.errors.lines.first {
            throw UnreadableSnapshot(complaint: line)?.error
                ?? BackupError(
                    .unexpectedAnswer,
                    "restic forget said: \(NameEscaping.text(Array(line.utf8)))",
                    advice: "run the command again")
        }
        // Without a match nothing is printed.
        if end.hasOutput { try output.requireEnd() }
        return Dictionary(output.elements, uniquingKeysWith: { $1 })
    }
}

extension JSONScanner {
    /// Parses why `restic forget --json` keeps a snapshot. Of any other object the identifier is empty.
    mutating func forgetReason() throws(JSONError) -> (String, [String]) {
        var (identifier, reasons) = ("", [String]())
        try forEachField { scanner, name throws(JSONError) in
            switch name {
            case "snapshot":
                try scanner.forEachField { scanner, name throws(JSONError) in
                    if name == "id" { identifier = try scanner.text() }
                }
            case "matches":
                // Each names a snapshot: "daily snapshot", "oldest weekly snapshot".
                reasons = try scanner.texts().map {
                    $0.hasSuffix(" snapshot") ? String($0.dropLast(" snapshot".count)) : $0
                }
            default: break
            }
        }
        return (identifier, reasons)
    }
}

extension Restic {
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
            _ = try await run(command, reading: NoOutput())
        }
        let left = try await listAll().snapshots.map(\.itself)
        guard removed.isDisjoint(with: left) else { throw .undone("forget") }
    }

    /// Removes unneeded data. On a full disk, only packs without any needed data are removed, which
    /// takes hardly any space.
    ///
    /// - Returns: the size of what was removed, as restic prints it; nil where it does not.
    package func prune() async throws(BackupError) -> String? {
        do throws(BackupError) {
            return try await prune([])
        } catch  where error.code == .noSpace {
            do throws(BackupError) {
                return try await prune(words("--max-repack-size=0"))
            } catch  where error.code == .noSpace {
                var failure = error
                failure.advice =
                    "remove other files there, or a snapshot that is not needed, and run it again; the "
                    + "last resort: restic prune --unsafe-recover-no-free-space"
                throw failure
            }
        }
    }

    private func prune(_ options: [[UInt8]]) async throws(BackupError) -> String? {
        try await requireAnswer()
        try await requireKnown()
        let output = try await run(
            ResticCommand("prune", options),
            reading: Lines(TextLines(report: progress)))
        let lines = output.consumer.lines
        guard lines.last == "done" else { throw .undone("prune") }
        return lines.last { $0.hasPrefix("total prune: ") }?.rest(after: " / ")
    }
}

extension BackupError {
    fileprivate static func undone(_ command: String) -> BackupError {
        BackupError(
            .unexpectedAnswer, "restic \(command) succeeded, but did not do what was asked",
            advice: "run the command again")
    }
}
