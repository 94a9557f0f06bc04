import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage

package struct RestoreAmount: Sendable {
    /// The number of items of the SOURCEs, directories included.
    package var items = 0
    package var bytes: Int64 = 0
    /// The bytes available to this user on the filesystem that they are restored to.
    package var available: Int64 = 0
    /// The number of files among the items that could not be stored whole, and are not put in place.
    package var unstored = 0
    /// The parts below the paths asked for that the snapshot lacks. What fell at several times is in several.
    package var absentParts: [AbsentPart] = []
    /// The number of other excluded items there, which earlier snapshots may have.
    package var excludedItems = 0
}

extension Restic {
    /// Restores a snapshot, or parts of it, below a directory, each item under its full path.
    ///
    /// restic restores into a stage, whose contents are then moved to their names. Only its exit code
    /// and the items that it names decide what is whole: a file that lacks a part stands there with its
    /// full size and its own time. Such an item is not moved.
    ///
    /// - Parameters:
    ///   - part: what to restore, each path with everything below it.
    ///   - begin: called before anything is restored; an error that it throws ends the restore.
    /// - Throws: ``BackupError`` for a path that is not there, or restic's failure; also what `begin`
    ///   throws. Failures of single items are in the result.
    package func restore(
        _ part: RestorePart, _ mode: RestoreMode, among list: SnapshotList,
        holder: (String) async throws -> Restic, begin: (RestoreAmount) throws -> Void
    ) async throws -> RestoreResult {
        var result = try await restore(part, mode, list, holder, begin)
        do throws(BackupError) {
            for path in result.wasThere ? result.paths : result.merged.equal {
                let found = try await occurrences(of: path, among: list).found
                result.otherVersions[path] = found.filter { $0.snapshot != result.snapshot }
            }
        } catch {
            guard error.code != .interrupted else { throw error }
            // What was restored stays so.
            result.complaints.append("other versions are not known: \(error)")
        }
        return result
    }

    private func restore(
        _ part: RestorePart, _ mode: RestoreMode, _ list: SnapshotList,
        _ holder: (String) async throws -> Restic, _ begin: (RestoreAmount) throws -> Void
    ) async throws -> RestoreResult {
        let (snapshot, paths) = (part.snapshot, part.paths)
        let target = mode.target ?? "/"
        var complaints: [String] = []
        var exclusions: [RecordedExclusion] = []
        var lacks: [[UInt8]] = []
        do throws(BackupError) {
            exclusions = try await self.exclusions(of: snapshot)
            lacks = try await self.lacks(of: snapshot)
        } catch {
            guard error.code.mayConcernOneSnapshot else { throw error }
            complaints.append(RestoreResult.unreadableRecord)
        }
        let evicted = exclusions.filter { $0.isEvicted && paths.include($0.path) }
        let names = Set(evicted.map(\.path))
        let stored = paths.filter { !names.contains($0) }
        var wanted = WantedItems(stored, in: snapshot, lacking: Set(lacks.map(printedName)))
        let isStored = paths.isEmpty || !stored.isEmpty
        if isStored {
            wanted = try await readEntries(of: snapshot.identifier, into: wanted) {
                $0.receive($1)
            }
        }
        if !wanted.journals.isEmpty {
            let journals = wanted.journals.sorted { $0.lexicographicallyPrecedes($1) }
            for journal in journals {
                warn("\(NameEscaping.text(journal)) goes with its database")
            }
            var whole = part
            whole.paths += journals
            return try await restore(whole, mode, list, holder, begin)
        }
        if let missing = wanted.missing.first {
            throw BackupError(
                .other, "is not in snapshot \(snapshot.shortIdentifier)",
                advice: "give the whole path as it was backed up", path: FilePath(bytes: missing))
        }
        if !mode.accounts.isEmpty, !wanted.owners.isEmpty {
            try await checkOwners(wanted.owners, in: snapshot, mode.accounts)
        }
        var amount = RestoreAmount(
            items: wanted.count, bytes: wanted.bytes, unstored: wanted.lacking.count)
        // Of evicted files, which other repositories keep, and of what is not whole the failures tell.
        let unstored = Set(wanted.lacking)
        lacks.removeAll { names.contains($0) || unstored.contains(printedName($0)) }
        (amount.absentParts, amount.excludedItems) = try await absentParts(
            below: paths, of: snapshot, among: list, exclusions, lacks)
        let roots = paths.isEmpty ? snapshot.sources.map(\.bytes) : paths
        let stage = try RestoreStage(in: target, for: roots)
        defer { stage.remove() }
        amount.available = stage.availableBytes
        for file in evicted {
            amount.items += 1
            amount.bytes.addSaturating(file.size ?? 0)
        }
        try begin(amount)
        // Before the rest, with which restic sets the times of the directories.
        let unfetched = try await fetchContent(of: evicted, into: stage, holder: holder)
        var damage: [[UInt8]: String] = [:]
        var hasUnnamed = false
        if isStored {
            let (end, lost) = try await fill(stage.path, snapshot, stored, amount.bytes)
            if end.code != 0, end.errors.items.isEmpty {
                complaints.append("restic: \(end.summary)")
            }
            hasUnnamed = end.errors.droppedItemCount > 0
            if hasUnnamed { complaints.append("restic: more items failed than are named") }
            // restic knows only the stage's name.
            let place = "\(stage.path)/"
            for item in end.errors.items {
                damage[item.name] = item.message.replacing(place, with: "/")
            }
            for path in lost where snapshot.recordPath?.path != path {
                damage[printedName(path)] = "its data is missing in the repository"
            }
            for name in wanted.lacking {
                damage[name] =
                    "it could not be stored whole when the snapshot was made (restic dump prints what "
                    + "is stored of it)"
            }
        }
        // Where it is not known what failed, nothing is replaced.
        let isSafe = complaints.isEmpty || part.placing != .replacing
        let placing = isSafe ? part.placing : .keeping
        if stage.keptTime != RestoreStage.exactTime {
            warn(
                "the filesystem of the target keeps times less exactly"
                    + (stage.keptTime.nanoseconds == 0 ? ": to the second" : ""))
        }
        if !stage.keepsAttributes {
            complaints.append(
                "the filesystem of the target stores no extended attributes: items have none now, "
                    + "and no ACLs")
        }
        if !stage.keepsPermissions {
            complaints.append(
                "the filesystem of the target stores no permissions: others may be able to read and "
                    + "change what is restored")
        }
        progress(BackupProgress(noun: "putting items in place", filesDone: nil))
        let merged: MergeOutcome
        let different: [RestoreFailure]
        let restorable = wanted.restorableCount + evicted.count - unfetched.count
        let record = snapshot.recordPath
        do {
            (merged, different, damage) = try await onOwnThread {
                [damage, hasUnnamed, wanted] isCancelled in
                try raiseDescriptorLimit()
                let mergedCount = try stage.mergedCount(
                    of: restorable,
                    isWanted: { paths.include($0) && record?.hides($0) != true },
                    damage: damage)
                guard mergedCount == 0 || hasUnnamed else {
                    throw BackupError(
                        .other,
                        "nothing is put in place: the filesystem takes different names for the same, "
                            + "such as those that differ in capitals only, and "
                            + "\(counted(mergedCount, "item")) of the snapshot would be lost",
                        advice: "restore to another filesystem: --target", path: target)
                }
                var damage = damage
                var different: [RestoreFailure] = []
                for item in wanted.setIDItems {
                    do throws(Errno) {
                        guard try stage.removeSetID(of: item) else { continue }
                        different.append(.withoutSetID(item.path))
                    } catch .noSuchFileOrDirectory {
                        // It is a failure anyway.
                    } catch {
                        damage[printedName(item.path)] = "\(error)"
                    }
                }
                different += try stage.synchronize(remote: wanted.remote)
                    .filter { paths.include($0.path) }
                for path in try stage.otherNames(of: Set(damage.keys)) {
                    damage[printedName(path)] = "it is another name of a file that is damaged"
                }
                var merger = TreeMerger(
                    placing, asked: roots, damage: damage, unmounted: part.unmounted,
                    omitted: record?.top, isCancelled: isCancelled)
                try merger.merge(stage.path, into: stage.target)
                return (merger.outcome, different, damage)
            }
        } catch {
            throw backupError(error, path: target)
        }
        // What restic did not restore at all was not met.
        let met = Set(merged.failures.map { printedName($0.path) })
        let unmet = damage.filter { !met.contains($0.key) }
            .map { RestoreFailure.missing($0.key, $0.value) }
        var result = RestoreResult(
            snapshot: snapshot, paths: paths, items: amount.items, merged: merged,
            failures: (merged.failures + different + unmet + unfetched)
                .sorted { $0.path.lexicographicallyPrecedes($1.path) },
            complaints: complaints,
            leftovers: stage.leftovers
                + merged.leftovers.map { target.pushing($0.removingRoot()) })
        result.evicted = evicted
        result.absentParts = amount.absentParts
        return result
    }

    /// Verifies that the owners of items have the same uids here: restic restores only numbers.
    ///
    /// - Parameter owners: an item of each.
    private func checkOwners(
        _ owners: [UInt32: [UInt8]], in snapshot: Snapshot, _ accounts: [String: UInt32]
    ) async throws(BackupError) {
        let groups = Dictionary(grouping: owners) {
            FilePath(bytes: $0.value).removingLastComponent().bytes
        }
        let progress = StepCounter("directories checked", of: Int64(groups.count), progress)
        for (parent, owners) in groups.sorted(by: { pathPrecedes($0.key, $1.key) }) {
            defer { progress.add(files: 1) }
            let command = ResticCommand(
                "cat", words("--quiet"),
                on: words("tree") + [Array("\(snapshot.identifier):".utf8) + parent])
            let limit = SnapshotRecord.longestText
            let tree = try await run(command, reading: WholeOutput(limit: limit)).bytes
            let names = try parsing("cat") { () throws(JSONError) in
                try userNames(inTree: tree)
            }
            for (owner, path) in owners.sorted(by: { $0.key < $1.key }) {
                guard let name = names[owner], let here = accounts[name], here != owner
                else { continue }
                throw BackupError(
                    .other,
                    "belongs to \(NameEscaping.text(Array(name.utf8))), who has uid \(owner) in the "
                        + "snapshot and \(here) here, so another user would get it",
                    advice: "to restore the numbers: --numeric-owner", path: FilePath(bytes: path))
            }
        }
    }

    /// Returns the parts below some paths that a snapshot lacks, and the newest snapshot that has each; nil
    /// where none is known to have it. Also the number of other excluded items there, which earlier
    /// snapshots may have.
    private func absentParts(
        below paths: [[UInt8]], of snapshot: Snapshot, among list: SnapshotList,
        _ exclusions: [RecordedExclusion], _ lacks: [[UInt8]]
    ) async throws(BackupError) -> ([AbsentPart], excluded: Int) {
        do throws(BackupError) {
            var parts =
                try await heldSnapshots(by: snapshot, among: list).compactMap { held in
                    guard let part = held.path,
                        let holder = list.snapshots.first(where: {
                            $0.identifier == held.snapshot
                        })
                    else { return AbsentPart?.none }
                    return AbsentPart(path: part, snapshot: holder, isPartial: held.isPartial)
                }
            for path in lacks where !parts.contains(where: { $0.path == path }) {
                parts.append(AbsentPart(path: path, snapshot: nil, isPartial: false))
            }
            parts.removeAll { !paths.include($0.path) }
            let named = PathSet(parts.map(\.path))
            let excluded = exclusions.count {
                $0.isOwners != nil && paths.include($0.path) && !named.contains($0.path)
            }
            return (parts, excluded)
        } catch  where error.code.mayConcernOneSnapshot {
            // Of its record the result tells.
            return ([], 0)
        }
    }

    /// Returns the SOURCEs that were missing when a snapshot was made, and what could not be stored; from
    /// its record where that is all that is known.
    package func lacks(of snapshot: Snapshot) async throws(BackupError) -> [[UInt8]] {
        guard snapshot.isIncomplete, snapshot.lacks.isEmpty else { return snapshot.lacks }
        return try await keptRecord(of: snapshot).lacks
    }

    /// Has restic restore below a directory of a stage.
    ///
    /// - Parameters:
    ///   - place: the directory, by a path that begins with a descriptor.
    ///   - paths: what to restore; empty for everything.
    ///   - bytes: the total, for progress.
    /// - Returns: how restic ended, and the items of these that it was not asked for, since the
    ///   repository lacks their data: with them it restores nothing at all.
    func fill(
        _ place: FilePath, _ snapshot: Snapshot, _ paths: [[UInt8]], _ bytes: Int64
    ) async throws(BackupError) -> (ResticEnd, lost: [[UInt8]]) {
        let start = BackupProgress(noun: "content restored", filesDone: nil, bytesTotal: bytes)
        progress(start)
        let messages = StatusMessages { found in
            var now = start
            now.bytesDone = min(found.bytesDone, bytes)
            progress(now)
        }
        var lost: [[UInt8]] = []
        while true {
            let (list, option) = try selection(of: paths, without: lost)
            let command = ResticCommand(
                "restore",
                words("--json", "--sparse") + [Backups.option("--target", place.bytes)]
                    + option,
                on: words(snapshot.identifier))
            let (output, end) = try await attempt(command, reading: Lines(messages))
            // restic opens the list through this process's descriptor.
            withExtendedLifetime(list) {}
            // It sums up what it did also where items failed, but not where it was killed: then any file may
            // be there in part.
            let isDone = output.consumer.summary != nil
            if isDone, end.code == 0 || !end.errors.items.isEmpty { return (end, lost) }
            guard end.code != 0 else {
                throw BackupError(
                    .unexpectedAnswer, "restic restore did not say that it was done",
                    advice: "run the command again")
            }
            guard end.errors.line(containing: "Unknown blob ") != nil else { throw failure(end) }
            let found = try await lostFiles(in: snapshot).map(\.path).filter(paths.include)
            guard !Set(found).isSubset(of: lost) else { throw failure(end) }
            lost = Set(lost + found).sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    /// Returns the option that selects what to restore, and the file it names.
    private func selection(
        of wanted: [[UInt8]], without lost: [[UInt8]]
    ) throws(BackupError) -> (list: MemoryFile, option: [[UInt8]]) {
        func line(_ path: [UInt8], _ sign: String = "") -> [UInt8] {
            sign.utf8 + ResticPattern(matching: FilePath(bytes: path)).line + [UInt8(ascii: "\n")]
        }
        // restic takes either inclusions or exclusions, but an inclusion can be taken back.
        let lines =
            wanted.isEmpty
            ? lost.flatMap { line($0) }
            : wanted.flatMap { line($0) } + lost.flatMap { line($0, "!") }
        let list = try MemoryFile(lines)
        guard !lines.isEmpty else { return (list, []) }
        let name = wanted.isEmpty ? "--exclude-file" : "--include-file"
        return (list, [option(name, list.path)])
    }
}

/// Returns the names of the owners of what is in a directory of a snapshot, which `restic cat tree` printed.
private func userNames(inTree json: [UInt8]) throws(JSONError) -> [UInt32: String] {
    var found: [UInt32: String] = [:]
    var scanner = JSONScanner(json[...], hasLostBytes: false)
    try scanner.forEachField { scanner, field throws(JSONError) in
        guard field == "nodes" else { return }
        try scanner.forEachElement { scanner throws(JSONError) in
            var (user, name) = (Int64(-1), "")
            try scanner.forEachField { scanner, field throws(JSONError) in
                switch field {
                case "uid": user = try scanner.integer()
                case "user": name = try scanner.text()
                default: break
                }
            }
            if let user = UInt32(exactly: user), !name.isEmpty { found[user] = name }
        }
    }
    return found
}

extension [[UInt8]] {
    /// Whether these paths, if there are any, include a path, or a directory above it.
    func include(_ path: [UInt8]) -> Bool { isEmpty || contains { isHeld(path, by: $0) } }
}

struct WantedItems: Sendable {
    private(set) var missing: [[UInt8]]
    /// The number of items of the SOURCEs that are wanted, directories included.
    private(set) var count: Int
    private(set) var bytes: Int64 = 0
    /// The number of all wanted items that restic restores, those above the SOURCEs included.
    private(set) var restorableCount = 0
    /// The printed names of the wanted items that lack content, but for directories.
    private(set) var lacking: [[UInt8]] = []
    /// The items with a time that not all filesystems can store, or that restic restores as another: beyond
    /// 64 bits of nanoseconds.
    private(set) var remote: [SnapshotEntry] = []
    /// The first wanted item of each owner but root.
    private(set) var owners: [UInt32: [UInt8]] = [:]
    /// The wanted items with set-ID bits.
    private(set) var setIDItems: [SnapshotEntry] = []
    /// What is not wanted, and without which a wanted file may be damaged: the write-ahead log or the journal
    /// of a database.
    private(set) var journals: [[UInt8]] = []
    private let includes: [[UInt8]]
    private let items: PathSet
    private let unstored: Set<[UInt8]>

    /// - Parameter unstored: the printed names of what could not be stored whole.
    init(_ includes: [[UInt8]], in snapshot: Snapshot, lacking unstored: Set<[UInt8]>) {
        missing = includes
        self.unstored = unstored
        self.includes = includes
        items = snapshot.items
        count = includes.include([UInt8(ascii: "/")]) ? items.unlistedCount : 0
    }

    mutating func receive(_ entry: SnapshotEntry) {
        if !isStorable(entry.modified) { remote.append(entry) }
        guard includes.include(entry.path) else {
            let database = journalEndings.lazy.compactMap { ending in
                entry.path.suffix(ending.utf8.count).elementsEqual(ending.utf8)
                    ? Array(entry.path.dropLast(ending.utf8.count)) : nil
            }.first
            if entry.kind == .regularFile, let database, includes.contains(database) {
                journals.append(entry.path)
            }
            return
        }
        missing.removeAll { isHeld(entry.path, by: $0) }
        if entry.kind != .socket, entry.kind != .unknown { restorableCount += 1 }
        if !unstored.isEmpty, entry.kind != .directory {
            let name = printedName(entry.path)
            if unstored.contains(name) { lacking.append(name) }
        }
        if entry.hasSetID { setIDItems.append(entry) }
        if entry.owner != 0, owners[entry.owner] == nil {
            owners[entry.owner] = entry.path
        }
        guard items.contains(entry.path) else { return }
        count += 1
        if entry.kind == .regularFile { bytes.addSaturating(entry.size) }
    }
}
