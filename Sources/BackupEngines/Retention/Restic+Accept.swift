import SystemCalls
import SystemPackage

/// What was accepted.
package struct Acceptance: Sendable {
    /// The snapshot made last, whose holds ended.
    package let snapshot: Snapshot
    /// The number of snapshots that were given an earlier time, because they were dated ahead of the clock
    /// or of the one made last.
    package let redated: Int
}

extension Restic {
    /// Accepts what the newest snapshot of a SET covers: it holds no earlier snapshot any more, except
    /// for what was to be stored and was not. Snapshots that are dated ahead of the clock, or of that one,
    /// get an earlier time.
    ///
    /// Where this installation does not know how that snapshot was made, it goes on as the one that made
    /// it.
    ///
    /// - Parameter scope: the SETs; of several, the only one with something to accept.
    /// - Throws: ``BackupError``: `noSnapshot` when there is nothing to accept, `ambiguousSources` when
    ///   several SETs have something.
    package func accept(_ scope: ForgetScope) async throws(BackupError) -> Acceptance {
        let all = try await list().snapshots
        let host = hostName()
        let own = OwnSnapshots(
            snapshots: all.filter {
                $0.set?.installation == installation || $0.hostName == host
            }, unreadable: [])
        var waiting: [OwnSnapshots.OneSet] = []
        for set in own.sets {
            if case .configuration(let chosen) = scope, chosen != set.name.configuration {
                continue
            }
            if try await hasSomethingToAccept(set) { waiting.append(set) }
        }
        if case .onlySet(let preferred) = scope,
            waiting.contains(where: { $0.name.configuration == preferred })
        {
            waiting.removeAll { $0.name.configuration != preferred }
        }
        guard let set = waiting.first, let newest = set.snapshots.last else {
            throw BackupError(.noSnapshot, "there is nothing to accept")
        }
        guard waiting.count == 1 else {
            throw BackupError(
                .ambiguousSources, "\(waiting.count) sets of SOURCEs have something to accept",
                advice: "name the SOURCEs of one")
        }
        let redated = try await redate(set.snapshots)
        let latest = try await list().snapshots
            .last { $0.recordHash == newest.recordHash }
        try await settle(latest ?? newest)
        return Acceptance(snapshot: latest ?? newest, redated: redated)
    }

    private func hasSomethingToAccept(
        _ set: OwnSnapshots.OneSet
    ) async throws(BackupError) -> Bool {
        guard let newest = set.snapshots.last else { return false }
        let isOwn = set.name.installation == installation
        // That of another machine of this name, unless it is to be continued.
        if !isOwn, isNoted(newest) { return false }
        let now = FileTime.now
        if isOwn, set.snapshots.contains(where: { $0.time > min(now, newest.time) }) { return true }
        do throws(BackupError) {
            return try await !holds(of: newest).isEmpty
        } catch  where error.code.mayConcernOneSnapshot {
            return true
        }
    }

    /// Ends the holds of a SET's newest snapshot, and notes it as made here.
    private func settle(_ newest: Snapshot) async throws(BackupError) {
        guard let hash = newest.recordHash, let set = newest.set else { return }
        var recorded: Recorded
        do throws(BackupError) {
            recorded = try await self.recorded(newest)
        } catch  where error.code.mayConcernOneSnapshot {
            // Nothing is known of what it lacks.
            recorded = RecordedSnapshotReader(newest).recorded
        }
        let snapshot = recorded.snapshot
        recorded.snapshot.holds.removeAll { !(snapshot.plans($0.part) && !snapshot.has($0.part)) }
        for index in recorded.sources.indices { recorded.sources[index].fall = nil }
        recorded.snapshot.fallen = []
        let verdict = verdict(on: newest)
        recorded.isJudged = verdict?.isJudged ?? newest.isJudged
        recorded.isComplete = verdict?.isComplete ?? !newest.isIncomplete
        do throws(FileError) {
            if set.installation != installation { try continueAs(set.installation) }
            try notes?.note(hash, SnapshotRecord(verdict: recorded).bytes)
        } catch {
            throw BackupError(
                .notWritable, "it cannot be noted: \(error.message)", advice: error.advice,
                path: error.path)
        }
    }

    /// Gives a time before that of the snapshot made last, a second apart in their order, to those that are
    /// dated after it; and the current time to that one, if it is dated after now.
    private func redate(_ snapshots: [Snapshot]) async throws(BackupError) -> Int {
        guard let newest = snapshots.last else { return 0 }
        let limit = min(FileTime.now, newest.time)
        let ahead = snapshots.filter { $0.time > limit }
        for (index, snapshot) in ahead.enumerated() {
            let isNewest = snapshot == newest
            let last = ahead.last == newest ? ahead.count - 1 : ahead.count
            let seconds = limit.seconds.subtractingSaturating(isNewest ? 0 : Int64(last - index))
            let date = resticDate(CalendarDate(secondsSince1970: seconds, isLocal: true))
            let (_, end) = try await attempt(
                ResticCommand(
                    "rewrite", words("--forget") + [option("--new-time", date)],
                    on: words(snapshot.identifier)),
                reading: NoOutput())
            guard end.code == 0 else { throw failure(end) }
        }
        return ahead.count
    }

    /// Writes what was found out about snapshots to their tags.
    func writeVerdicts(on snapshots: [Snapshot]) async throws(BackupError) {
        for isComplete in [true, false] {
            let part = snapshots.filter { (verdict(on: $0)?.isComplete ?? false) == isComplete }
            guard !part.isEmpty else { continue }
            let tags = [StateTag.judged] + (isComplete ? [] : [StateTag.incomplete])
            let (_, end) = try await attempt(
                ResticCommand(
                    "tag", tags.map { option("--add", $0) },
                    on: part.map { Array($0.identifier.utf8) }),
                reading: NoOutput())
            guard end.code == 0 else { throw failure(end) }
        }
    }
}

/// Returns a date in the form that restic takes.
private func resticDate(_ date: CalendarDate) -> String {
    func digits(_ number: Int, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = "\(digits(date.year, 4))-\(digits(date.month))-\(digits(date.day))"
    return "\(day) \(digits(date.hour)):\(digits(date.minute)):\(digits(date.second))"
}
