import SystemCalls
import SystemPackage

package struct Acceptance: Sendable {
    /// The snapshot made last, whose holds ended.
    package let snapshot: Snapshot
    /// The number of snapshots that were given another time, because they were dated ahead of the clock, or
    /// the one made last before another.
    package let redated: Int
    package let isTakenOver: Bool
    /// The holds that stay, of what should be stored and is not, or is away, and the snapshots that are held.
    package let holds: [HeldPart]
}

extension Restic {
    /// Accepts what the newest snapshot of a SET covers: it holds no earlier snapshot any more, except
    /// for what was to be stored and was not, and for what is on a medium that is away. Snapshots that are
    /// dated ahead of the clock, and that one where another is dated after it, get another time.
    ///
    /// Where this installation does not know how that snapshot was made, it goes on as the one that made
    /// it.
    ///
    /// - Parameter scope: the SETs; of several, the only one with something to accept.
    /// - Throws: ``BackupError``: `noSnapshot` when there is nothing to accept, `ambiguousSources` when
    ///   several SETs have something.
    package func accept(_ scope: ForgetScope) async throws(BackupError) -> Acceptance {
        let sets = try await list().sets
        var waiting: [SnapshotList.OneSet] = []
        for set in sets where mayAccept(set, scope, among: sets) {
            if try await hasSomethingToAccept(set) { waiting.append(set) }
        }
        if case .onlySet(let preferred) = scope,
            waiting.contains(where: { $0.name.configuration == preferred })
        {
            waiting.removeAll { $0.name.configuration != preferred }
        }
        // Of one configuration its own SET is meant, or the newest of those that were left alone.
        func isNamedBefore(_ one: SnapshotList.OneSet, _ other: SnapshotList.OneSet) -> Bool {
            guard isOwn(one.name) == isOwn(other.name), let last = one.snapshots.last?.time,
                let otherLast = other.snapshots.last?.time
            else { return isOwn(other.name) }
            return last < otherLast
        }
        guard let set = waiting.max(by: isNamedBefore) else {
            throw BackupError(.noSnapshot, "there is nothing to accept")
        }
        guard Set(waiting.map(\.name.configuration)).count == 1 else {
            throw BackupError(
                .ambiguousSources, "\(waiting.count) sets of SOURCEs have something to accept",
                advice: "name the SOURCEs of one")
        }
        let isTakenOver = !isOwn(set.name)
        try await writeVerdicts(on: set.snapshots)
        let redated = try await redate(set.snapshots)
        let snapshots = try await list().snapshots.filter { $0.set == set.name }
        // What was asked for is about what had been seen.
        guard let newest = snapshots.last, newest.recordHash == set.snapshots.last?.recordHash
        else {
            throw BackupError(
                .noSnapshot, "the newest snapshot was made or removed meanwhile",
                advice: "look at it, and run the command again")
        }
        return Acceptance(
            snapshot: newest, redated: redated, isTakenOver: isTakenOver,
            holds: try await settle(newest, of: snapshots))
    }

    /// Whether a SET is this installation's, or may be continued by it: one that a machine of this name and
    /// this user made of what is backed up here, or of what was named.
    func mayAccept(
        _ set: SnapshotList.OneSet, _ scope: ForgetScope, among sets: [SnapshotList.OneSet]
    ) -> Bool {
        let configuration = set.name.configuration
        var isNamed = false
        switch scope {
        case .everySet: break
        case .onlySet(let preferred): isNamed = preferred == configuration
        case .configuration(let chosen):
            guard chosen == configuration else { return false }
            isNamed = true
        }
        if isOwn(set.name) { return true }
        guard let newest = set.snapshots.last, newest.hostName == hostName(),
            !newest.allTags.contains(StateTag.unnoted)
        else { return false }
        // One that goes on beside it is another machine's.
        let own = sets.first { isOwn($0.name) && $0.name.configuration == configuration }
        if let began = own?.snapshots.first, began.time < newest.time { return false }
        // restic does not know a user who is not in the password database.
        let user = effectiveUser()
        guard newest.userName.isEmpty ? user != 0 : newest.userIdentifier == user else {
            return false
        }
        return isNamed || ((try? keptIdentifier(of: configuration)) ?? nil) != nil
    }

    private func hasSomethingToAccept(
        _ set: SnapshotList.OneSet
    ) async throws(BackupError) -> Bool {
        guard let newest = set.snapshots.last else { return false }
        // Another machine's, which goes on by itself, or one that was given up for it.
        if !isOwn(set.name) { return !isNoted(newest) }
        let limit = min(FileTime.now, newest.time)
        if set.snapshots.contains(where: { $0.time > limit || !isNoted($0) }) { return true }
        do throws(BackupError) {
            return try await !recorded(newest).holds.isEmpty
        } catch  where error.code.mayConcernOneSnapshot {
            return true
        }
    }

    /// Goes on with a SET as the installation that made it: a new machine in the place of a lost one. Its
    /// holds stay.
    package func takeOver(_ set: SnapshotList.OneSet) async throws(BackupError) {
        guard let newest = set.snapshots.last else { return }
        _ = try await settle(newest, of: set.snapshots, endsHolds: false)
    }

    /// Returns the content of a file in a snapshot; nil where it is not there, or larger than the limit.
    package func content(
        of file: FilePath, in snapshot: Snapshot, limit: Int
    ) async throws(BackupError) -> [UInt8]? {
        do throws(BackupError) {
            return try await readContent(
                of: file, in: snapshot.identifier, with: WholeOutput(limit: limit)
            ).bytes
        } catch  where error.code.mayConcernOneSnapshot {
            return nil
        }
    }

    /// Ends the holds of a SET's newest snapshot, if asked to, and notes all as made here.
    ///
    /// - Returns: the holds that stay.
    private func settle(
        _ newest: Snapshot, of snapshots: [Snapshot], endsHolds: Bool = true
    ) async throws(BackupError) -> [HeldPart] {
        guard let hash = newest.recordHash, let set = newest.set else { return [] }
        // Where it cannot be read, nothing is known of what it lacks, nor does forget know it.
        var recorded = SnapshotRecord(number: newest.number, date: newest.time.seconds)
        do throws(BackupError) {
            recorded = try await self.recorded(newest)
        } catch  where error.code.mayConcernOneSnapshot {
            if endsHolds { throw BackupError(error.code, error.message, advice: "make a backup") }
            recorded.set = set.text
        }
        if endsHolds { recorded.accept() }
        var verdict =
            verdict(on: newest)?.verdict
            ?? Verdict(isJudged: newest.isJudged, isComplete: !newest.isIncomplete)
        verdict.snapshot = newest.identifier
        do throws(FileError) {
            if !isOwn(set) { try keep(set.identifier, of: set.configuration) }
            for other in snapshots where !isNoted(other) {
                if let hash = other.recordHash { try notes?.note(hash) }
            }
            try notes?.note(hash, recorded.noted(verdict).text)
        } catch {
            throw BackupError(
                .notWritable, "it cannot be noted: \(error.message)", advice: error.advice,
                path: error.path)
        }
        return recorded.held(among: snapshots)
    }

    /// Gives the snapshot made last the current time, if it is dated after now or before another one; and to
    /// those that are dated after now a time before it, a second apart in their order. All others keep
    /// theirs, by which they are kept.
    private func redate(_ snapshots: [Snapshot]) async throws(BackupError) -> Int {
        guard let newest = snapshots.last else { return 0 }
        let now = FileTime.now
        let isNewestWrong =
            newest.time > now || snapshots.contains { $0.time > newest.time && $0.time <= now }
        let limit = isNewestWrong ? now : newest.time
        let wrong = snapshots.filter { $0 == newest ? isNewestWrong : $0.time > now }
        for (index, snapshot) in wrong.enumerated() {
            let before = snapshot == newest ? 0 : wrong.count - index
            let seconds = limit.seconds.subtractingSaturating(Int64(before))
            // As restic takes it: in this machine's time zone, without the offset.
            let text = FileTime(seconds: seconds, nanoseconds: 0).localText.prefix(19)
            let date = String(text.replacing("T", with: " "))
            _ = try await run(
                ResticCommand(
                    "rewrite", words("--forget") + [option("--new-time", date)],
                    on: words(snapshot.identifier)),
                reading: NoOutput())
        }
        return wrong.count
    }
}
