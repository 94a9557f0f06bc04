import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A path to look for in snapshots, as it was typed.
package struct AskedPath: Sendable {
    /// The working directory's path and the words as typed.
    package let path: FilePath
    /// The first symbolic link above the item; nil if there is no link now.
    fileprivate let link: FilePath?
    /// The path with that link and others resolved; nil without a link, and where another user than the
    /// caller or root made it.
    package let resolved: FilePath?
    /// How to go on where no snapshot has it.
    fileprivate let advice: String

    /// - Throws: ``FileError`` for no words at all, and when the working directory cannot be found out.
    package init(_ typed: FilePath) throws(FileError) {
        guard !typed.isEmpty else { throw FileError(.noSuchFileOrDirectory, of: typed) }
        let directory = typed.isAbsolute ? FilePath("/") : try realPath(of: ".")
        path = directory.pushing(typed).lexicallyNormalized()
        var ancestor = FilePath("/")
        var found: (path: FilePath, isTrusted: Bool)?
        for component in path.removingLastComponent().components {
            ancestor.append(component)
            guard let status = try? ancestor.withoutFollowing.status() else { break }
            if status.kind == .symbolicLink {
                found = (ancestor, status.owner == 0 || status.owner == effectiveUser())
                break
            }
        }
        link = found?.path
        if let found, found.isTrusted, let last = path.lastComponent,
            let parent = try? realPath(of: path.removingLastComponent())
        {
            resolved = parent.appending(last)
        } else {
            resolved = nil
        }
        if typed.bytes.contains(where: { "*?[".utf8.contains($0) }) {
            advice = "the shell found nothing that matches the pattern"
        } else if SnapshotChoice(String(decoding: typed.bytes, as: UTF8.self)) != nil {
            advice = "a snapshot is named with --snapshot"
        } else {
            advice = "list the snapshots: resval-backup snapshots"
        }
    }
}

/// Where items are restored, and what becomes of what is there.
package struct RestoreMode: Sendable {
    /// The directory that gets each item under its whole path; nil where items come back to where they
    /// were.
    package let target: FilePath?
    private let overwrites: Bool
    /// The uids of users by their names: a name that had another uid when a snapshot was made ends the
    /// restore. Empty where that does not matter.
    let accounts: [String: UInt32]
    /// Where an item may be put beside what is there: no program of the system reads as configuration what
    /// is in the homes of root and of people.
    private let homes: [[UInt8]]

    /// - Parameter keepsNumbers: whether root gives items to the recorded uids, also those of other accounts here.
    package init(target: FilePath?, overwrites: Bool, keepsNumbers: Bool) {
        (self.target, self.overwrites) = (target, overwrites)
        let users = PasswordDatabase(contents: (try? contentsOfFile("/etc/passwd")) ?? [])
        let isRoot = effectiveUser() == 0
        accounts = isRoot && !keepsNumbers ? users.identifiers : [:]
        homes =
            isRoot
            ? users.accounts.filter { $0.user == 0 || $0.user >= 1000 }.map(\.home.bytes)
            : [[UInt8(ascii: "/")]]
    }

    fileprivate func placing(of path: [UInt8], _ snapshot: Snapshot) -> Placing {
        if overwrites { return .replacing }
        if target != nil { return .keeping }
        guard homes.contains(where: { isHeld(path, by: $0) }) else { return .beside(nil) }
        return .beside(" (from \(snapshot.time.localMinute.replacing(":", with: ".")))")
    }
}

extension FileTime {
    /// The time for people: to the minute, in this machine's time zone, such as `2026-01-31 08:05`.
    package var localMinute: String { String(localText.prefix(16).replacing("T", with: " ")) }
}

package struct RestorePart: Sendable {
    package let snapshot: Snapshot
    /// The paths in the snapshot; empty for everything.
    package internal(set) var paths: [[UInt8]]
    let placing: Placing
    /// The mount points with nothing mounted, which get no content.
    let unmounted: Set<[UInt8]>

    /// Returns the part less the paths that an item is at or below, or whose journal it is; nil where none is
    /// left, or that is none of them.
    package func without(_ item: FilePath?) -> RestorePart? {
        guard let item else { return nil }
        var rest = self
        rest.paths.removeAll { path in
            ([""] + journalEndings).contains { isHeld(item.bytes, by: path + $0.utf8) }
        }
        return rest.paths.isEmpty || rest.paths.count == paths.count ? nil : rest
    }
}

/// What is restored of the paths that were asked for, and what to tell of them.
package struct RestoreChoice: Sendable {
    package fileprivate(set) var parts: [RestorePart] = []
    /// Whether something that was asked for is not restored.
    package fileprivate(set) var isPartial = false
    /// Where each path comes from, or why it is not restored.
    package fileprivate(set) var remarks: [(path: [UInt8], sentence: String)] = []

    fileprivate mutating func add(
        _ path: [UInt8], of snapshot: Snapshot, _ placing: Placing, _ unmounted: Set<[UInt8]>
    ) {
        let index = parts.firstIndex { $0.snapshot == snapshot && $0.placing == placing }
        if let index {
            parts[index].paths.append(path)
        } else {
            parts.append(
                RestorePart(
                    snapshot: snapshot, paths: [path], placing: placing, unmounted: unmounted))
        }
    }

    fileprivate mutating func remark(_ path: [UInt8], _ sentence: String) {
        remarks.append((path, sentence))
    }
}

extension Restic {
    /// Chooses the version of each path that is restored: the newest one.
    ///
    /// - Parameters:
    ///   - asked: the paths; empty for a whole snapshot.
    ///   - choice: the snapshot to restore from; nil for the newest that has each path.
    ///   - host: the machine whose snapshots are looked in; nil for this one.
    /// - Throws: ``BackupError``: `noSnapshot`; also as ``newestVersions(of:in:)`` does.
    package func choose(
        _ asked: [AskedPath], of choice: SnapshotChoice?, host: String?, among list: SnapshotList,
        _ mode: RestoreMode
    ) async throws(BackupError) -> RestoreChoice {
        let choice = asked.isEmpty && host == nil ? choice ?? .latest : choice
        // Where this machine has none, the machines that have are named.
        if choice == .latest { _ = try snapshots(ofHost: nil, among: list) }
        let snapshots =
            if let choice { [try snapshot(choice, among: list)] } else {
                try snapshots(ofHost: host, among: list)
            }
        var chosen = RestoreChoice()
        guard !asked.isEmpty else {
            chosen.parts = snapshots.suffix(1).map {
                RestorePart(
                    snapshot: $0, paths: [], placing: mode.placing(of: [], $0), unmounted: [])
            }
            return chosen
        }
        let paths = Set(asked.flatMap { [$0.path, $0.resolved].compactMap { $0?.bytes } })
        let versions = try await newestVersions(of: paths, in: snapshots)
        let others =
            choice != nil || host != nil
            ? []
            : list.snapshots.filter { !$0.isPinned && !snapshots.contains($0) }
        var missing: [Snapshot: Set<[UInt8]>] = [:]
        for item in asked {
            let typed = versions[item.path.bytes]
            let behind = typed?.snapshot == nil ? item.resolved.map { versions[$0.bytes] } : nil
            if let failure = typed?.failure ?? behind??.failure {
                chosen.isPartial = true
                chosen.remark(item.path.bytes, failure.description)
                continue
            }
            let hosts = Set(others.filter { $0.covers(item.path.bytes) }.map(\.hostName))
            let version = chosen.version(
                of: item, among: versions, in: choice == nil ? nil : snapshots.first,
                besides: hosts.sorted(), isInPlace: mode.target == nil)
            guard let version, let snapshot = version.snapshot else {
                chosen.isPartial = true
                continue
            }
            if missing[snapshot] == nil {
                missing[snapshot] = try await unmountedPoints(of: snapshot, mode)
            }
            let points = missing[snapshot] ?? []
            if let point = points.first(where: { isHeld(version.path, by: $0) }) {
                chosen.isPartial = true
                chosen.remark(point, "nothing is restored there: \(unmountedSentence)")
                continue
            }
            chosen.remark(version.path, version.origin(snapshot))
            chosen.add(version.path, of: snapshot, mode.placing(of: version.path, snapshot), points)
        }
        return chosen
    }

    /// Returns the mount points with nothing mounted, of fstab(5) and of when this installation made a
    /// snapshot; but not those of the filesystem that is there: a service has mount points of its own.
    private func unmountedPoints(
        of snapshot: Snapshot, _ mode: RestoreMode
    ) async throws(BackupError) -> Set<[UInt8]> {
        guard mode.target == nil, let mounts = try? MountTable.current() else { return [] }
        let mounted = Set(mounts.mounts.map(\.mountPoint.bytes))
        let listed = (try? contentsOfFile("/etc/fstab")).map(mountPoints(inFstab:)) ?? []
        let points = Set(listed.map(\.bytes)).subtracting(mounted)
        guard let set = snapshot.set, isOwn(set) else { return points }
        do throws(BackupError) {
            let recorded = try await keptRecord(of: snapshot).mounts
            func isThere(_ mount: RecordedMount) -> Bool {
                mount.filesystem == RecordedMount(at: FilePath(bytes: mount.path)).filesystem
            }
            // Where the root is another one, it is another machine, with other mounts.
            guard recorded.contains(where: { $0.path == [UInt8(ascii: "/")] && isThere($0) })
            else { return points }
            let missing = recorded.filter { !mounted.contains($0.path) && !isThere($0) }
            return points.union(missing.map(\.path))
        } catch  where error.code.mayConcernOneSnapshot {
            // Of its record the result tells.
            return points
        }
    }

    /// Returns a machine's snapshots, the oldest first.
    private func snapshots(
        ofHost host: String?, among list: SnapshotList
    ) throws(BackupError) -> [Snapshot] {
        let found =
            host.map { host in list.snapshots.filter { $0.hostName == host && !$0.isPinned } }
            ?? ownSnapshots(among: list).snapshots
        guard found.isEmpty else { return found }
        let hosts = Set(list.snapshots.map(\.hostName)).sorted()
            .map { NameEscaping.text(Array($0.utf8)) }.joined(separator: ", ")
        throw BackupError(
            .noSnapshot, "there is no snapshot of \(host ?? "this machine")",
            advice: hosts.isEmpty
                ? "make one: resval-backup create" : "name a machine with --host: \(hosts)")
    }
}

extension RestoreChoice {
    /// Chooses between the path as typed and the one behind a link; nil, with the reason in a remark, where
    /// neither is restored.
    ///
    /// - Parameters:
    ///   - named: the only snapshot that was looked in; nil for all.
    ///   - others: the machines whose snapshots were not looked in and cover it.
    fileprivate mutating func version(
        of item: AskedPath, among versions: [[UInt8]: NewestVersion], in named: Snapshot?,
        besides others: [String], isInPlace: Bool
    ) -> NewestVersion? {
        let path = item.path.bytes
        let isNowhere =
            named.map { "is not in snapshot \($0.shortIdentifier)" }
            ?? (others.isEmpty ? "is in no snapshot" : "is in no snapshot of this backup")
        let typed = versions[path]
        if typed?.snapshot != nil {
            guard isInPlace, let link = item.link else { return typed }
            remark(
                path,
                "is not restored: \(ShellWord.quoted(link.bytes)) is a symbolic link now, so it would "
                    + "go elsewhere (restore it with --target, or remove the link)")
            return nil
        }
        if let link = item.link {
            let name = ShellWord.quoted(link.bytes)
            guard let resolved = item.resolved else {
                remark(
                    path,
                    "\(isNowhere), and \(name) is a symbolic link of another user, which is not "
                        + "followed")
                return nil
            }
            if let version = versions[resolved.bytes], version.snapshot != nil {
                remark(
                    path,
                    "is \(ShellWord.quoted(resolved.bytes)), since \(name) is a symbolic link")
                return version
            }
        }
        let reason = typed?.lacking.lazy.compactMap(\.reason).first
        let parts = typed?.parts.prefix(3).map { ShellWord.quoted($0.bytes) } ?? []
        let hosts = others.prefix(3).map { "--host \(ShellWord.quoted(Array($0.utf8)))" }
        let advice =
            !parts.isEmpty
            ? "parts of it are: \(parts.joined(separator: " "))"
            : hosts.isEmpty
                ? item.advice : "other snapshots may have it: \(hosts.joined(separator: ", "))"
        remark(
            path,
            isNowhere + (reason.map { ": \($0)" } ?? "") + " (\(advice))")
        return nil
    }
}

struct NewestVersion: Sendable {
    let path: [UInt8]
    fileprivate(set) var snapshot: Snapshot?
    /// The start of the identifier of the snapshot that keeps its content; nil unless it was evicted then.
    fileprivate var keeper: Substring?
    /// The SOURCEs below it of the newest snapshot that has such.
    fileprivate(set) var parts: [FilePath] = []
    /// The newer ones, which lack it, the newest first, and the reason, in words, for which each excluded
    /// it or could not store it; nil where it was not there.
    fileprivate(set) var lacking: [(snapshot: Snapshot, reason: String?)] = []
    /// Why it is not known: a snapshot that may be the newest to have it cannot be read.
    fileprivate var failure: BackupError?

    /// Which snapshot it comes from, and why newer ones lack it, in words.
    fileprivate func origin(_ snapshot: Snapshot) -> String {
        let kept =
            keeper.map { ", which knows it as evicted: its content is in snapshot \($0)" } ?? ""
        let text =
            "from snapshot \(snapshot.shortIdentifier) of \(snapshot.time.localMinute)\(kept)"
        guard !lacking.isEmpty else { return text }
        let reasons = lacking.map { $0.reason ?? "it was not there" }
        let reason = Set(reasons).count == 1 ? reasons[0] : "\(reasons[0]), and others"
        return text + "; \(counted(lacking.count, "newer one")) without it: \(reason)"
    }
}

extension Restic {
    /// Finds the newest snapshot that has each of some items: it stores them, and not only the empty
    /// directory that stands for an excluded one or parts of one, or another snapshot keeps their content.
    ///
    /// - Parameters:
    ///   - paths: the absolute paths as they were backed up.
    ///   - snapshots: the snapshots to look in, the oldest first.
    /// - Throws: ``BackupError``; also where for each of them a snapshot that may be the newest to have it
    ///   cannot be read.
    private func newestVersions(
        of paths: Set<[UInt8]>, in snapshots: [Snapshot]
    ) async throws(BackupError) -> [[UInt8]: NewestVersion] {
        var versions: [[UInt8]: NewestVersion] = [:]
        for path in paths { versions[path] = NewestVersion(path: path) }
        let progress = StepCounter("snapshots checked", of: Int64(snapshots.count), progress)
        for snapshot in snapshots.reversed() {
            defer { progress.add(files: 1) }
            let missing = versions.filter {
                $1.snapshot == nil && $1.failure == nil && snapshot.covers($0)
            }.keys
            if missing.isEmpty { continue }
            do throws(BackupError) {
                let exclusions = try await exclusions(of: snapshot)
                let excluded = ExcludedPaths(exclusions)
                let evicted = Dictionary(
                    exclusions.filter(\.isEvicted).map { ($0.path, $0.record) },
                    uniquingKeysWith: { first, _ in first })
                let left = missing.filter { excluded.reason(of: $0) == nil }
                let common = commonNames(of: left).flatMap { [UInt8(ascii: "/")] + $0 }
                let wanted = Set(left)
                // restic lists no entry of `/`.
                var present = wanted.intersection([[UInt8(ascii: "/")]])
                if present != wanted {
                    present = try await readEntries(
                        of: snapshot.identifier, below: common.isEmpty ? nil : common, into: present
                    ) { present, entry in
                        guard wanted.contains(entry.path),
                            !snapshot.isPinned || entry.kind != .directory
                        else { return }
                        present.insert(entry.path)
                    }
                }
                for path in missing {
                    if present.contains(path) || evicted[path] != nil {
                        versions[path]?.snapshot = snapshot
                        versions[path]?.keeper = evicted[path]??.snapshot.prefix(8)
                    } else if !snapshot.isPinned, snapshot.items.contains(path) {
                        let wasLacking = PathSet(snapshot.lacks).contains(path)
                        let reason = wasLacking ? "it was missing, or could not be stored" : nil
                        versions[path]?.lacking.append(
                            (snapshot, excluded.reason(of: path) ?? reason))
                    }
                }
            } catch {
                guard error.code.mayConcernOneSnapshot else { throw error }
                let failure = BackupError(
                    .damaged,
                    "snapshot \(snapshot.shortIdentifier) may have the newest version, and cannot be "
                        + "read: \(error.message)",
                    advice: "name an older one with --snapshot, and check the repository: "
                        + "resval-backup verify")
                for path in missing { versions[path]?.failure = failure }
                if versions.allSatisfy({ $1.failure != nil }) { throw failure }
            }
        }
        for path in paths where versions[path]?.snapshot == nil {
            let parts = snapshots.lazy.map { snapshot in
                snapshot.sources.filter { $0.bytes != path && isHeld($0.bytes, by: path) }
            }
            versions[path]?.parts = parts.last { !$0.isEmpty } ?? []
        }
        return versions
    }
}
