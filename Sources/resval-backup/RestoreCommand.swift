import ArgumentParser
import Backups
import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put back what was deleted, or an earlier version.",
        discussion: """
            What is there stays: a file is put beside it, and a directory gets what it lacks. With \
            --target each item gets its whole path below that directory: DIR/home/me/notes. What \
            cannot be restored whole, or is there and differs, is named or counted, and the exit \
            code is 3; it is 1 when all of it is there already, or none could be restored.

            EXAMPLES
              resval-backup restore ~/notes.txt
              resval-backup restore --snapshot 1a2b3c4d ~/project
              resval-backup restore --target /mnt/new
            """)

    @Argument(
        help: ArgumentHelp("What to restore, with everything below it.", valueName: "path"),
        completion: .items)
    var paths: [PathOperand] = []

    @Option(
        help: ArgumentHelp(
            "The first four or more digits of a snapshot's ID, or latest (default: the newest that "
                + "has the path).",
            valueName: "snapshot"))
    var snapshot: SnapshotChoice?

    @Option(
        help: ArgumentHelp("The directory, empty or not there yet.", valueName: "dir"))
    var target: PathArgument?

    @Flag(
        help: "Replace what is there; a --target may have entries.")
    var overwrite = false

    @Option(help: ArgumentHelp("Take the snapshots of another machine.", valueName: "name"))
    var host: String?

    @Flag(
        help: "As root, give items to the recorded uids and gids, whatever their names here.")
    var numericOwner = false

    @Flag(name: [.short, .long], help: "Ask nothing.")
    var yes = false

    @Flag(
        help: "Print a JSON object per snapshot: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
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
        var asked: [AskedPath] = []
        var isWhole = true
        for path in paths.paths {
            do throws(FileError) {
                asked.append(try AskedPath(path.path))
            } catch {
                Messages.write(error)
                isWhole = false
            }
        }
        // Without any it would be the whole snapshot.
        if asked.isEmpty, !isWhole { throw ExitCode(1) }
        let (results, isDone) = try await running { [asked] in try await restore(asked, display) }
        isWhole = isWhole && isDone
        display.end()
        var code: Int32 = isWhole ? 0 : 3
        var written = false
        for result in results {
            code = max(code, write(result) ? 0 : 3)
            if !result.isNothing, !result.wasThere { written = true }
        }
        if code != 0 { throw ExitCode(written ? 3 : 1) }
    }

    /// Restores what was asked for, and tells where it comes from.
    ///
    /// - Returns: also whether no path was refused or failed.
    private func restore(
        _ asked: [AskedPath], _ display: Progress
    ) async throws -> ([RestoreResult], isWhole: Bool) {
        let engine = try repository.engine(showing: display)
        if let target, !overwrite { try checkEmpty(target.path) }
        let mode = RestoreMode(
            target: target?.path, overwrites: overwrite, keepsNumbers: numericOwner)
        let list = try await engine.list()
        let chosen = try await engine.choose(
            asked, of: snapshot, host: host, among: list, mode)
        for (path, sentence) in chosen.remarks {
            Messages.write(about: path, Advice.completed(sentence))
        }
        // Where there is none, no other repository is known that could have evicted content.
        let state = try? ownEvictionDirectory()
        var results: [RestoreResult] = []
        var isWhole = !chosen.isPartial
        var waiting = chosen.parts
        while !waiting.isEmpty {
            let part = waiting.removeFirst()
            do {
                let count = part.paths.count
                results.append(
                    try await engine.restore(
                        part, mode, among: list,
                        holder: { try await repository.holder(of: $0, state) },
                        begin: {
                            try begin($0, of: part.snapshot, isTree: count == 0 || $0.items > count)
                        }))
            } catch let error as BackupError where error.code != .interrupted {
                // Others of the same snapshot do not depend on the path that failed.
                let isOfRepository = error.path == engine.repository.directory
                let rest = isOfRepository ? nil : part.without(error.path)
                guard chosen.parts.count > 1 || !isWhole || rest != nil else { throw error }
                Messages.write(about: error.path?.bytes, Advice.completed(error.description))
                isWhole = false
                if let rest { waiting.append(rest) }
            } catch is ExitCode where !results.isEmpty {
                // The answer was no: what was restored before is told.
                isWhole = false
                waiting = []
            }
        }
        return (results, isWhole)
    }

    /// Tells what the snapshot lacks and how much is written, and asks before a tree is put where something
    /// may be.
    private func begin(_ amount: RestoreAmount, of snapshot: Snapshot, isTree: Bool) throws {
        var told: Set<[UInt8]> = []
        for part in amount.absentParts where told.insert(part.path).inserted {
            let holders = amount.absentParts.filter { $0.path == part.path }.compactMap(\.snapshot)
            tell(part, in: holders.sorted { $0.number > $1.number }, of: snapshot)
        }
        if amount.excludedItems > 0 {
            let identifier = snapshot.shortIdentifier
            Messages.write(
                "items below that the snapshot excludes: \(amount.excludedItems); older ones may have them "
                    + Advice.completed(
                        "(list: resval-backup show \(identifier) --excluded; find: "
                            + "resval-backup snapshots PATH)"))
        }
        let text =
            "\(counted(amount.items, "item")), \(sizeText(amount.bytes)); "
            + (amount.unstored > 0 ? "\(amount.unstored) not stored whole; " : "")
            + "\(sizeText(amount.available)) are free"
        guard target == nil, isTree else { return }
        if Messages.canAsk, !yes {
            if !Messages.confirm(about: nil, text) { throw ExitCode(1) }
        } else {
            Messages.inform(text)
        }
    }

    private func checkEmpty(_ path: FilePath) throws(BackupError) {
        guard try isEmptyOrAbsent(path, but: RestoreStage.isName) else {
            throw BackupError(
                .other, "the target is not empty",
                advice: "name another, or overwrite what is there with --overwrite", path: path)
        }
    }

    /// - Returns: whether all of it is as it is in the snapshot now, and was not before.
    private func write(_ result: RestoreResult) -> Bool {
        for failure in result.failures {
            Messages.write(about: failure.path, failure.sentence)
        }
        for leftover in result.leftovers {
            Messages.warn(
                about: leftover.bytes,
                "was left by a restore that was killed: remove it when it is not needed")
        }
        for path in result.merged.filesWithOtherNames {
            Messages.warn(about: path, "had other names, which keep the old content")
        }
        for complaint in result.complaints { Messages.write(complaint) }
        let differing = result.merged.differingItems
        if differing > 0 {
            let subject =
                differing == 1 ? "differs" : "\(counted(differing, "item")) of the snapshot differ"
            Messages.write(
                about: differing == 1 ? result.merged.firstDiffering : nil,
                "\(subject) from what is there, which stays"
                    + (result.wroteNothing ? "; nothing was written" : "")
                    + " (to replace it: --overwrite; to have both: --target)")
        }
        let aside = Dictionary(
            result.merged.movedAside.map { ($0.path, $0.name) },
            uniquingKeysWith: { first, _ in first })
        for (path, versions) in result.otherVersions { tell(path, aside[path], versions) }
        printResult(asJSON: json) {
            addFields(of: result, to: &$0)
        } text: {
            write(text: result, aside, to: &$0)
        }
        return result.isComplete && result.absentParts.isEmpty && result.otherVersions.isEmpty
    }

    /// Says what a snapshot lacks, and how to get it.
    private func tell(_ part: AbsentPart, in holders: [Snapshot], of snapshot: Snapshot) {
        let name = "snapshot \(snapshot.shortIdentifier)"
        guard !holders.isEmpty else {
            return Messages.write(
                about: part.path,
                "was missing, or could not be stored whole, when \(name) was made")
        }
        let names = holders.map { "snapshot \($0.shortIdentifier) of \($0.time.localMinute)" }
        let command = Advice.completed("resval-backup restore")
        let commands = holders.map {
            "\(command) --snapshot \($0.shortIdentifier) \(ShellWord.quoted(part.path))"
        }
        Messages.write(
            about: part.path,
            (part.isPartial ? "is only in part in" : "is not in") + " \(name); "
                + "\(names.joined(separator: " and ")) \(holders.count == 1 ? "has" : "have") "
                + "\(part.isPartial ? "more" : "it") "
                + "(to get it: \(commands.joined(separator: "; ")))")
    }

    /// Names the other versions of an item that is there as it is in the newest snapshot.
    ///
    /// - Parameter name: the name that it has beside something else.
    private func tell(_ path: [UInt8], _ name: [UInt8]?, _ versions: [Occurrence]) {
        var seen: Set<[String]> = []
        let others = versions.reversed().filter {
            seen.insert(["\($0.bytes)", "\($0.items)", $0.modified?.rfc3339 ?? ""]).inserted
        }
        Messages.write(
            about: path,
            (name.map { "is there already as \(NameEscaping.text($0))" }
                ?? "is there as it is in the snapshot") + "; nothing was written"
                + (others.isEmpty ? "" : ". Other versions (to take one: --snapshot ID):"))
        for version in others {
            Messages.write(
                "  \(version.snapshot.shortIdentifier) of \(version.snapshot.time.localMinute): "
                    + "\(counted(version.items, "item")), \(sizeText(version.bytes))")
        }
    }

    private func addFields(of result: RestoreResult, to line: inout JSONLine) {
        line.add("snapshot", result.snapshot.identifier)
        line.add("isComplete", result.isComplete)
        line.add("items", result.items)
        line.add("differingItems", result.merged.differingItems)
        if let target { line.add("target", "targetBase64", target.bytes) }
        line.add("movedAside", objects: result.merged.movedAside) { item, object in
            object.add(path: item.path)
            object.add("name", "nameBase64", item.name)
        }
        line.add("leftOut", objects: result.absentParts) { item, object in
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
    }

    private func write(
        text result: RestoreResult, _ aside: [[UInt8]: [UInt8]], to buffer: inout OutputBuffer
    ) {
        guard !result.wroteNothing else { return }
        let differs = result.merged.differingItems > 0
        buffer.append(text: "snapshot \(result.snapshot.shortIdentifier): ")
        buffer.append(text: result.isComplete ? "" : "\(result.wholeItems) of ")
        buffer.append(text: "\(counted(result.items, "item")) ")
        buffer.append(differs ? "are now as in it\n" : "restored\n")
        let places = result.paths.isEmpty ? result.snapshot.sources.map(\.bytes) : result.paths
        let missing = result.failures.map(\.path) + result.absentParts.map(\.path)
        for place in places {
            let isMissing = missing.contains { isHeld(place, by: $0) }
            if isMissing || result.merged.equal.contains(place) { continue }
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
                buffer.append(differs ? " has what it lacked" : " is back")
            }
            buffer.append("\n")
        }
    }
}
