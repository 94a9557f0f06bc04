import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// `resval-backup restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put items back, or restore a snapshot below a directory.",
        discussion: """
            Each PATH comes back from the newest snapshot that has it. What is there stays: a file is \
            put beside it, with the date of the snapshot in its name, and a directory gets what it \
            lacks. --overwrite replaces what is there, --snapshot takes another version \
            (resval-backup snapshots PATH lists them). A path that does not exist any more is typed as \
            it was, absolute or relative to the working directory.

            With --target, each item gets its whole path below a directory instead: /home/me/notes \
            becomes DIR/home/me/notes. Without PATH that is the whole snapshot.

            Evicted files come back from the snapshots that keep their content. What cannot be \
            restored whole, and what is there and differs, is named or counted, and the exit code is \
            3; it is 1 when nothing was written.

            EXAMPLES
              resval-backup restore ~/notes.txt       a file that was deleted, or its last version
              resval-backup restore --snapshot 1a2b3c4d ~/project
                                                      what is missing there, as it was then
              resval-backup restore --snapshot latest --target /mnt/new
                                                      everything
            """)

    @Argument(help: ArgumentHelp("What to restore, with everything below it.", valueName: "path"))
    var paths: [PathOperand] = []

    @Option(
        help: ArgumentHelp(
            "The first digits of a snapshot's ID, or latest: the newest one that resval-backup made "
                + "on this machine. Without it, the newest that has the path.",
            valueName: "snapshot"))
    var snapshot: String?

    @Option(
        help: ArgumentHelp("The directory; it must be empty or not exist.", valueName: "dir"))
    var target: PathArgument?

    @Option(help: ArgumentHelp("Take the snapshots of another machine.", valueName: "name"))
    var host: String?

    @Flag(
        help: """
            Replace what is there by name: links are not followed, and other names of a file keep its \
            content. With --target the directory may have entries.
            """)
    var overwrite = false

    @Flag(
        help: """
            As root, give items to the users with the recorded numbers, also where the recorded names \
            have others here.
            """)
    var numericOwner = false

    @Flag(name: [.short, .long], help: "Ask nothing.")
    var yes = false

    @Flag(
        help: "Print a JSON object for each snapshot that something comes from: see resval-json(5)."
    )
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        guard snapshot.map({ SnapshotChoice($0) != nil }) ?? true else {
            throw ValidationError(
                "a snapshot is named by at least four hexadecimal digits, or latest")
        }
        guard host == nil || snapshot == nil else {
            throw ValidationError("give --snapshot or --host, not both")
        }
        guard target != nil || !paths.isEmpty else {
            throw ValidationError(
                "give the paths to put back, or --target with a directory for all of a snapshot")
        }
    }

    func run() async throws {
        if !yes { try repository.confirmChoice() }
        let display = progress.begin("reading the snapshots")
        defer { display.end() }
        let asked = try paths.paths.map { try AskedPath($0) }
        let results = try await running { [self] in
            let engine = try repository.engine(showing: display)
            if let target, !overwrite { try checkEmpty(target.path) }
            let unmounted = target == nil ? unmountedPoints() : []
            var parts = try await parts(of: asked, without: unmounted, engine)
            for index in parts.indices where parts[index].snapshot != nil {
                do {
                    try await restore(&parts[index], engine, unmounted, display)
                } catch let error as BackupError where parts.count > 1 && error.code != .interrupted
                {
                    Messages.write(about: error.path?.bytes, Advice.completed(error.description))
                }
            }
            return parts
        }
        display.end()
        var code: Int32 = 0
        var written = false
        for part in results {
            code = max(code, write(part) ? 0 : 3)
            if let result = part.result, !result.isNothing, !result.wasThere { written = true }
        }
        if code != 0 { throw ExitCode(written ? 3 : 1) }
    }

    /// What comes from one snapshot.
    private struct Part {
        let snapshot: Snapshot?
        var paths: [[UInt8]]
        /// Whether an item may be put beside what has its name.
        var mayBeBeside = true
        var result: RestoreResult?
        var leftOut: [(path: [UInt8], snapshot: Snapshot?)] = []
        var excludedItems = 0
        /// The other versions of the items that were there already.
        var versions: [[UInt8]: [Occurrence]] = [:]
    }

    /// Finds the snapshot that each path comes from, and tells it. The paths that none has are in a part
    /// without a snapshot.
    private func parts(
        of asked: [AskedPath], without unmounted: Set<[UInt8]>, _ engine: Restic
    ) async throws -> [Part] {
        if let snapshot, let choice = SnapshotChoice(snapshot) {
            return try await parts(
                of: asked, in: [engine.snapshot(choice)], without: unmounted, engine)
        }
        guard !asked.isEmpty || host != nil else {
            return [Part(snapshot: try await engine.snapshot(.latest), paths: [])]
        }
        let list = try await engine.list()
        let snapshots =
            host.map { host in list.snapshots.filter { $0.hostName == host && !$0.isPinned } }
            ?? engine.ownSnapshots(among: list).snapshots
        guard let newest = snapshots.last else {
            let hosts = list.hosts.map { NameEscaping.text(Array($0.utf8)) }.joined(separator: ", ")
            throw BackupError(
                .noSnapshot, "there is no snapshot of \(host.map { "\($0)" } ?? "this machine")",
                advice: hosts.isEmpty
                    ? "make one: resval-backup create" : "name a machine with --host: \(hosts)")
        }
        if asked.isEmpty { return [Part(snapshot: newest, paths: [])] }
        return try await parts(of: asked, in: snapshots, without: unmounted, engine)
    }

    private func parts(
        of asked: [AskedPath], in snapshots: [Snapshot], without unmounted: Set<[UInt8]>,
        _ engine: Restic
    ) async throws -> [Part] {
        if asked.isEmpty { return snapshots.map { Part(snapshot: $0, paths: []) } }
        let paths = Set(asked.flatMap { [$0.path.bytes] + ($0.resolved.map { [$0.bytes] } ?? []) })
        let versions = Dictionary(
            try await engine.newestVersions(of: Array(paths), in: snapshots).map { ($0.path, $0) },
            uniquingKeysWith: { first, _ in first })
        var parts: [Part] = []
        let places = homes()
        for item in asked {
            guard let version = choose(item, versions), let snapshot = version.snapshot else {
                parts.append(Part(snapshot: nil, paths: [item.path.bytes]))
                continue
            }
            if let point = unmounted.first(where: { isHeld(version.path, by: $0) }) {
                Messages.write(about: point, "nothing is restored there: \(unmountedSentence)")
                parts.append(Part(snapshot: nil, paths: [version.path]))
                continue
            }
            tell(version, snapshot)
            let mayBeBeside =
                effectiveUser() != 0 || places.contains { isHeld(version.path, by: $0) }
            let index = parts.firstIndex {
                $0.snapshot == snapshot && $0.mayBeBeside == mayBeBeside
            }
            if let index {
                parts[index].paths.append(version.path)
            } else {
                parts.append(
                    Part(snapshot: snapshot, paths: [version.path], mayBeBeside: mayBeBeside))
            }
        }
        return parts
    }

    /// Chooses between the path as typed and the one behind a link, and tells why there is none.
    private func choose(
        _ item: AskedPath, _ versions: [[UInt8]: NewestVersion]
    ) -> NewestVersion? {
        let typed = versions[item.path.bytes]
        if typed?.snapshot != nil {
            guard target == nil, let link = item.link else { return typed }
            Messages.write(
                about: item.path,
                "is not restored: \(ShellWord.quoted(link.bytes)) is a symbolic link now, so it would "
                    + "go elsewhere (restore it with --target, or remove the link)")
            return nil
        }
        if let link = item.link {
            if let resolved = item.resolved, let version = versions[resolved.bytes],
                version.snapshot != nil
            {
                Messages.write(
                    about: item.path,
                    "is \(ShellWord.quoted(resolved.bytes)), since \(ShellWord.quoted(link.bytes)) is a "
                        + "symbolic link")
                return version
            }
            if item.resolved == nil {
                Messages.write(
                    about: item.path,
                    "is in no snapshot, and \(ShellWord.quoted(link.bytes)) is a symbolic link of "
                        + "another user, which is not followed")
                return nil
            }
        }
        let exclusion = typed?.lacking.lazy.compactMap(\.exclusion).first
        Messages.write(
            about: item.path,
            "is in no snapshot" + (exclusion.map { ": it is excluded, since \($0)" } ?? "")
                + item.advice)
        return nil
    }

    /// Tells which snapshot a path comes from, and why newer ones lack it.
    private func tell(_ version: NewestVersion, _ snapshot: Snapshot) {
        var text = "from snapshot \(snapshot.shortIdentifier) of \(localTime(snapshot.time))"
        if !version.lacking.isEmpty {
            let reasons = version.lacking.map { $0.exclusion ?? "it was not there" }
            let reason = Set(reasons).count == 1 ? reasons[0] : "\(reasons[0]), and others"
            text += "; \(counted(version.lacking.count, "newer one")) without it: \(reason)"
        }
        Messages.write(about: version.path, text)
    }

    private func restore(
        _ part: inout Part, _ engine: Restic, _ unmounted: Set<[UInt8]>, _ display: Progress
    ) async throws {
        guard let snapshot = part.snapshot else { return }
        let time = localTime(snapshot.time).replacing(":", with: ".")
        let suffix = part.mayBeBeside ? " (from \(time))" : nil
        let placing: Placing =
            overwrite ? .replacing : target == nil ? .beside(suffix) : .keeping
        let state = stateHome().map { EvictionDirectory(stateHome: $0) }
        let result = try await engine.restore(
            part.paths, of: snapshot, to: target?.path ?? "/", placing, unmounted: unmounted,
            accounts: effectiveUser() == 0 && !numericOwner ? accounts() : [:],
            holder: { try await repository.holder(of: $0, state) },
            begin: { [count = part.paths.count] amount in
                try begin(amount, isTree: count == 0 || amount.items > count)
            }, report: reporter(display))
        part.result = result
        (part.leftOut, part.excludedItems) = try await engine.leftOut(
            below: part.paths, of: snapshot)
        for path in result.wasThere ? part.paths : result.equal {
            part.versions[path] = try await engine.occurrences(of: path).found.filter {
                $0.snapshot != snapshot
            }
        }
    }

    /// Tells how much is written and asks, before a tree is put where something may be.
    private func begin(_ amount: RestoreAmount, isTree: Bool) throws {
        let text =
            "\(counted(amount.items, "item")), \(sizeText(amount.bytes)); "
            + "\(sizeText(amount.available)) are free"
        guard target == nil, isTree else { return }
        if Messages.canAsk, !yes {
            if !Messages.confirm(about: nil, text) { throw ExitCode(1) }
        } else {
            Messages.write(about: [UInt8]?.none, text)
        }
    }

    private func checkEmpty(_ path: FilePath) throws(BackupError) {
        guard try isEmptyOrAbsent(path, but: RestoreStage.isName) else {
            throw BackupError(
                .targetNotEmpty, "the target is not empty",
                advice: "name another, or overwrite what is there with --overwrite", path: path)
        }
    }

    /// Prints what came of a part.
    ///
    /// - Returns: whether all of it is as it is in the snapshot now, and was not before.
    private func write(_ part: Part) -> Bool {
        guard let result = part.result else { return false }
        for failure in result.failures {
            Messages.write(about: failure.path, failure.sentence)
        }
        for leftover in result.leftovers {
            Messages.warn(
                about: leftover.bytes,
                "was left by a restore that was killed: remove it when it is not needed")
        }
        for path in result.filesWithOtherNames {
            Messages.warn(about: path, "had other names, which keep the old content")
        }
        for complaint in result.complaints { Messages.write(about: [UInt8]?.none, complaint) }
        if result.differingItems > 0 {
            Messages.write(
                about: [UInt8]?.none,
                "\(counted(result.differingItems, "item")) of the snapshot differ from what is there, "
                    + "which stays (to replace it: --overwrite; to have both: --target)")
        }
        for (path, snapshot) in part.leftOut {
            let name = "snapshot \(result.snapshot.shortIdentifier)"
            guard let snapshot else {
                Messages.write(
                    about: path, "was missing, or could not be stored whole, when \(name) was made")
                continue
            }
            Messages.write(
                about: path,
                "is not in \(name); snapshot \(snapshot.shortIdentifier) of "
                    + "\(localTime(snapshot.time)) has it (to get it: resval-backup restore "
                    + "\(ShellWord.quoted(path)))")
        }
        if part.excludedItems > 0 {
            let identifier = result.snapshot.shortIdentifier
            Messages.write(
                about: [UInt8]?.none,
                "items below that the snapshot excludes: \(part.excludedItems); older ones may have them "
                    + "(list: resval-backup show \(identifier) --excluded; find: "
                    + "resval-backup snapshots PATH)")
        }
        for (path, versions) in part.versions { tell(path, versions) }
        var buffer = OutputBuffer()
        if json { write(json: part, result, to: &buffer) } else { write(part, result, to: &buffer) }
        buffer.flush()
        return result.isComplete && part.leftOut.isEmpty && part.versions.isEmpty
    }

    /// Names the other versions of an item that is there as it is in the newest snapshot.
    private func tell(_ path: [UInt8], _ versions: [Occurrence]) {
        var seen: Set<[String]> = []
        let others = versions.reversed().filter {
            seen.insert(["\($0.bytes)", "\($0.items)", $0.modified?.rfc3339 ?? ""]).inserted
        }
        Messages.write(
            about: path,
            "is there as it is in the snapshot; nothing was written"
                + (others.isEmpty ? "" : ". Other versions (to take one: --snapshot ID):"))
        for version in others {
            Messages.write(
                about: [UInt8]?.none,
                "  \(version.snapshot.shortIdentifier) of \(localTime(version.snapshot.time)): "
                    + "\(counted(version.items, "item")), \(sizeText(version.bytes))")
        }
    }

    private func write(json part: Part, _ result: RestoreResult, to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("snapshot", result.snapshot.identifier)
        line.add("isComplete", result.isComplete)
        line.add("items", result.items)
        line.add("differingItems", result.differingItems)
        if let target { line.add("target", "targetBase64", target.bytes) }
        line.add("movedAside", objects: result.movedAside) { item, object in
            object.add(path: item.path)
            object.add("name", "nameBase64", item.name)
        }
        line.add("leftOut", objects: part.leftOut) { item, object in
            object.add(path: item.path)
            object.add("snapshot", item.snapshot?.identifier)
        }
        line.add("failures", objects: result.failures) { failure, object in
            object.add(path: failure.path)
            object.add("reason", failure.name)
        }
        line.add("complaints", strings: result.complaints)
        line.add("evicted", objects: result.evicted) { file, object in
            object.add(path: file.path)
            object.add("snapshot", file.record?.snapshot)
            object.add("repository", file.record?.repository)
        }
        line.end(in: &buffer)
    }

    private func write(_ part: Part, _ result: RestoreResult, to buffer: inout OutputBuffer) {
        guard !result.wasThere else { return }
        buffer.append(text: "snapshot \(result.snapshot.shortIdentifier): ")
        buffer.append(text: result.isComplete ? "" : "\(result.wholeItems) of ")
        buffer.append(text: "\(counted(result.items, "item")) restored\n")
        let aside = Dictionary(
            result.movedAside.map { ($0.path, $0.name) }, uniquingKeysWith: { first, _ in first })
        let places = part.paths.isEmpty ? result.snapshot.sources.map(\.bytes) : part.paths
        let missing = result.failures.map(\.path) + part.leftOut.map(\.path)
        for place in places where !result.equal.contains(place) && !missing.contains(place) {
            let path = FilePath(bytes: place)
            buffer.append(path: path)
            if let target {
                buffer.append(" is now ")
                buffer.append(
                    path: target.path.pushing(FilePath(root: nil, path.components)))
            } else if let name = aside[place] {
                buffer.append(" stays; the version of the snapshot is beside it: ")
                buffer.append(name: name)
            } else {
                buffer.append(" is back")
            }
            buffer.append("\n")
        }
    }
}

/// The home directories of root and of people: what is put beside a file there is read as configuration by
/// no program of the system.
private func homes() -> [[UInt8]] {
    PasswordDatabase(contents: (try? contentsOfFile("/etc/passwd")) ?? []).accounts
        .filter { $0.user == 0 || $0.user >= 1000 }.map(\.home.bytes)
}

/// The uids of this machine's users by their names.
private func accounts() -> [String: UInt32] {
    let lines = ((try? contentsOfFile("/etc/passwd")) ?? []).split(separator: UInt8(ascii: "\n"))
    return Dictionary(
        lines.compactMap { line in
            let fields = String(decoding: line, as: UTF8.self)
                .split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count > 2, let user = UInt32(fields[2]) else { return nil }
            return (String(fields[0]), user)
        }, uniquingKeysWith: { first, _ in first })
}

/// The mount points of fstab(5) with nothing mounted.
private func unmountedPoints() -> Set<[UInt8]> {
    guard let table = try? contentsOfFile("/etc/fstab"), let mounts = try? MountTable.current()
    else { return [] }
    return Set(mountPoints(inFstab: table).map(\.bytes))
        .subtracting(mounts.mounts.map(\.mountPoint.bytes))
}
