import SystemCalls
import SystemPackage
import TextFormats

/// The snapshots that retention rules apply to.
package enum ForgetScope: Sendable, Hashable {
    /// Those of a configuration, where there are any, or else of the only SET that this installation
    /// makes.
    case onlySet(preferring: String?)
    /// Those of each SET that this installation makes, SET by SET.
    case everySet
    /// Those of one configuration.
    case configuration(String)
}

extension Restic {
    /// Decides which snapshots of this installation are kept, by restic's rules and by what is held.
    /// Removes nothing.
    ///
    /// What was found out about snapshots is written to their tags first, which gives them other
    /// identifiers.
    ///
    /// - Parameter renamed: called with each snapshot that got another identifier, before and after.
    /// - Throws: ``BackupError``: `noSnapshot` when there are none of the configuration,
    ///   `ambiguousSources` when there are several SETs and none was chosen.
    package func forgetDecisions(
        _ rules: RetentionRules, _ scope: ForgetScope,
        renamed: (_ before: Snapshot, _ after: Snapshot) -> Void = { _, _ in }
    ) async throws(BackupError) -> [ForgetDecision] {
        var own = try await ownSnapshots()
        var chosen = try own.sets(scope)
        let judged = chosen.flatMap(\.snapshots).filter {
            $0.isJudged && !$0.allTags.contains(StateTag.judged)
        }
        var isWritten = true
        do throws(BackupError) {
            try await writeVerdicts(on: judged)
        } catch  where error.code == .noSpace {
            // What is removed makes room.
            isWritten = false
        }
        if !judged.isEmpty, isWritten {
            own = try await ownSnapshots()
            chosen = try own.sets(scope)
            let after = Dictionary(
                own.snapshots.map { ($0.recordHash, $0) }, uniquingKeysWith: { $1 })
            for snapshot in judged { after[snapshot.recordHash].map { renamed(snapshot, $0) } }
        }
        let holders = try await lastHolders(ofEvictedIn: own.snapshots)
        var decisions: [ForgetDecision] = []
        for set in chosen {
            if !isWritten, !set.snapshots.allSatisfy(\.isJudged) {
                throw BackupError(
                    .noSpace, "nothing is removed: the tags of snapshots cannot be written",
                    advice: "make room there")
            }
            decisions += try await forgetDecisions(rules, set).map {
                holders.contains($0.snapshot) ? $0.kept(for: "last copy of evicted files") : $0
            }
        }
        return decisions.reversed()
    }

    private func forgetDecisions(
        _ rules: RetentionRules, _ set: OwnSnapshots.OneSet
    ) async throws(BackupError) -> [ForgetDecision] {
        guard let newest = set.snapshots.last else { return [] }
        let holds: [Hold]
        do throws(BackupError) {
            holds = try await self.holds(of: newest)
        } catch  where error.code.mayConcernOneSnapshot {
            warn(
                "nothing is removed: \(error.message) (look at snapshot \(newest.shortIdentifier), "
                    + "and if it is right: resval-backup accept)")
            return set.snapshots.map { ForgetDecision($0, keptFor: ["nothing is removed"]) }
        }
        var kept: [String: [String]] = [:]
        for tags in [set.name.tag, "\(set.name.tag),\(StateTag.judged)"] {
            kept.merge(try await resticsReasons(rules, tags)) { first, _ in first }
        }
        return set.snapshots.forgetDecisions(
            keptByRules: kept, holds: holds, now: FileTime.now.seconds)
    }

    /// Returns the holds that a snapshot has, and the snapshots that are held, as far as they are there.
    ///
    /// - Throws: ``BackupError``: `noRecord`, `damaged`.
    package func heldSnapshots(
        by snapshot: Snapshot
    ) async throws(BackupError) -> [(hold: Hold, snapshot: Snapshot?)] {
        var known = verdict(on: snapshot)?.snapshot.holds
        if known == nil { known = try await recordedHolds(of: snapshot) }
        let holds = known ?? []
        guard !holds.isEmpty, snapshot.set != nil else { return [] }
        let set = try await list(SnapshotFilter()).snapshots.filter { $0.set == snapshot.set }
        return holds.map { hold in (hold, set.last { $0.number == hold.number }) }
    }

    private func recordedHolds(of snapshot: Snapshot) async throws(BackupError) -> [Hold] {
        try await readRecord(of: snapshot, with: RecordedSnapshotReader(snapshot))
            .recorded.snapshot.holds
    }

    /// Returns the holds that a SET's snapshot made last has.
    ///
    /// - Throws: ``BackupError`` when they are not known: its record cannot be read, or was not made
    ///   here.
    func holds(of newest: Snapshot) async throws(BackupError) -> [Hold] {
        guard isNoted(newest) else {
            throw BackupError(
                .noRecord,
                "it is not known here how snapshot \(newest.shortIdentifier) was made: the state "
                    + "directory is not the one it was, or another machine uses a copy of it")
        }
        if let verdict = verdict(on: newest) { return verdict.snapshot.holds }
        return try await recordedHolds(of: newest)
    }

    /// Returns restic's reasons for each snapshot that its policy keeps, by identifier.
    private func resticsReasons(
        _ rules: RetentionRules, _ tags: String
    ) async throws(BackupError) -> [String: [String]] {
        let command = ResticCommand(
            "forget",
            rules.options + [option("--tag", tags), option("--group-by", "")]
                + words("--dry-run", "--no-lock", "--no-cache", "--json"))
        let output = try await run(command, reading: WholeOutput())
        // Without a match nothing is printed.
        if output.bytes.isEmpty { return [:] }
        var scanner = JSONScanner(output.bytes[...], hasLostBytes: false)
        do throws(JSONError) {
            return try scanner.forgetReasons()
        } catch {
            throw .unexpectedAnswer(error, to: "forget")
        }
    }

    /// Removes the snapshots that are not kept.
    package func forget(_ decisions: [ForgetDecision]) async throws(BackupError) {
        try await remove(decisions.filter { !$0.isKept }.map(\.snapshot))
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
