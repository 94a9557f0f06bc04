import EffectiveValues
import Eviction
import SystemCalls

extension ContentHolding {
    /// Decides which snapshots of evicted files are no longer needed. Removes nothing.
    ///
    /// In doubt, a snapshot is kept. Only one made by this user on this machine can be removed, if
    /// no file was found that is evicted into it, and the newest snapshots without gaps contain all
    /// of its files with the same paths, sizes and times. It must be at least a week old, because
    /// files may still be being evicted into it.
    ///
    /// - Parameters:
    ///   - records: the eviction records of all evicted files that were found.
    ///   - steps: the entries of this user's journal.
    ///   - isEverythingKnown: whether all directories and the whole journal could be read.
    ///   - now: the current time.
    /// - Throws: ``BackupError``.
    package func decideKept(
        _ records: [EvictionRecord], _ steps: [EvictedFile], isEverythingKnown: Bool,
        now: CalendarTime
    ) async throws(BackupError) -> [Retention.Decision] {
        let repository = try await repositoryIdentifier().prefix(16)
        let needed = Dictionary(grouping: records.filter { $0.repository == repository }) {
            $0.snapshot
        }
        let snapshots = try await snapshots()
        let kept = snapshots.filter {
            $0.sourceSet == nil && $0.allTags.contains(where: PinTag.isOne)
        }
        var contents: [Snapshot: Set<StoredFile>] = [:]
        for snapshot in kept {
            do throws(BackupError) {
                contents[snapshot] = Set(
                    try await keptFiles(of: snapshot).map {
                        StoredFile(
                            path: $0.path,
                            facts: ContentFacts(size: $0.size, modified: $0.modified),
                            hasPermissions: true)
                    })
            } catch {
                guard error.code.mayConcernOneSnapshot else { throw error }
            }
        }
        let stored = try await filesOfNewest(
            snapshots, Set(contents.values.joined().map(\.facts)))
        let user = OwnerNames().user(effectiveUser())
        return kept.reversed().map { snapshot in
            var reasons: [String] = []
            if snapshot.hostName != hostName() || snapshot.userName != user {
                reasons.append("of another user or machine")
            }
            if snapshot.time.seconds > now.seconds.subtractingSaturating(7 * 86400) {
                reasons.append("younger than a week")
            }
            let count = Set([snapshot.identifier, snapshot.originalIdentifier]).reduce(0) {
                $0 + (needed[String($1.prefix(16))]?.count ?? 0)
            }
            if count > 0 { reasons.append("evicted files: \(count)") }
            if steps.contains(where: { snapshot.allTags.contains($0.pinTag) }) {
                reasons.append("in the journal of evicted files")
            }
            if let content = contents[snapshot], !content.isEmpty {
                let lacking = content.subtracting(stored).count
                if lacking > 0 { reasons.append("files not in a newest snapshot: \(lacking)") }
            } else {
                reasons.append("its files are not known")
            }
            if !isEverythingKnown { reasons.append("not all directories could be read") }
            return Retention.Decision(snapshot: snapshot, reasons: reasons)
        }
    }

    /// Returns the files with wanted content in this machine's newest snapshots without gaps, one
    /// of each set of SOURCEs.
    private func filesOfNewest(
        _ snapshots: [Snapshot], _ wanted: Set<ContentFacts>
    ) async throws(BackupError) -> Set<StoredFile> {
        let now = FileTime.now.seconds
        var stored: Set<StoredFile> = []
        for set in SnapshotSets(snapshots.filter { $0.hostName == hostName() }).sets {
            let newest = set.snapshots.last {
                !$0.isIncomplete && !$0.hasShrunk && !$0.isFromFuture(at: now)
            }
            guard let newest, !wanted.isEmpty else { continue }
            stored.formUnion(
                try await readEntries(of: newest.identifier, with: StoredFiles(wanted)).found)
        }
        return stored
    }
}
