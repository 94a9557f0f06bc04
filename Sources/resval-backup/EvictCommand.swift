import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

struct EvictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Free the blocks of files that a snapshot has.",
        discussion: """
            A snapshot of just these files is made and compared first. Name, size, time and \
            attributes of each stay, its permission bits go, and resval-backup download \
            restores the content. -R skips hidden files and caches. The exit code is 3 when only \
            a part was done.

            EXAMPLES
              resval-backup evict ~/Videos/holiday.mkv
              resval-backup evict -R ~/Videos/2019
            """)

    @OptionGroup var paths: EvictionPaths

    @Flag(
        name: [.customShort("n"), .customLong("dry-run")],
        help: "Only show what would be evicted.")
    var isDryRun = false

    @Option(
        help: ArgumentHelp(
            "With -R, only files that take at least this much.", valueName: "size"))
    var minimumSize = ByteSize(bytes: 64 << 10)

    @Flag(name: [.customShort("y"), .long], help: "With -R and --forget, do not ask.")
    var yes = false

    @Flag(help: "Finish what was interrupted, in the home or PATHs.")
    var recover = false

    @Flag(help: "List evicted files in the home, or below PATHs.")
    var list = false

    @Option(
        help: ArgumentHelp(
            "Remove a snapshot that keeps evicted files: those still evicted into it lose their "
                + "content.",
            valueName: "snapshot"))
    var forget: String?

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        let others = [recover, list, forget != nil].count { $0 }
        guard others == (paths.paths.isEmpty || list || recover ? 1 : 0) else {
            throw ValidationError(
                "give at least one path, or --recover, --list or --forget SNAPSHOT")
        }
        if recover, isDryRun { throw ValidationError("--recover has no --dry-run") }
        if let forget, forget == "latest" || SnapshotChoice(forget) == nil {
            throw ValidationError("--forget takes at least four hexadecimal digits")
        }
    }

    func run() async throws {
        let environment = PolicyEnvironment.current()
        let state = try ownEvictionDirectory()
        if let forget { return try await remove(forget) }
        let display = progress.begin("looking for files")
        let roots = paths.paths.paths.map(\.path)
        if list { return try writeList(of: roots, display) }
        if recover { return try await recover(roots, state, display) }
        let places = try neededPlaces(repository, in: environment)
        let expansion = paths.files(
            without: places, wanting: .worthEvicting(minimumSize: minimumSize.bytes))
        let report = EvictionReport(
            .evicting, isJSON: json, failures: expansion.failures, display: display)
        if !isDryRun, !yes, expansion.found.files > 0 {
            display.end()
            try confirm(
                "about to evict \(counted(expansion.found.files, "file")) with "
                    + "\(sizeText(expansion.found.bytes)) on the disk")
        }
        let files = expansion.files
        if !isDryRun {
            StopRequest.goOnWithoutOutput()
            for file in files where (try? file.withoutFollowing.evictionRecord()) != nil {
                // What stops the repair stops the eviction, which reports it.
                _ = try? repair(file, state)
            }
        }
        let settings = try repository.configuration.settingsIfAny() ?? BackupSettings()
        let rules = settings.policy.policy(in: environment)
        try await running { [repository, isDryRun] in
            let engine = try repository.engine(showing: display)
            try await engine.requireKnown()
            try await report.work(in: engine, state)
                .evict(files, rules, without: places, isDryRun: isDryRun)
        }
        try report.finish()
    }

    /// Finishes interrupted evictions and downloads, also by downloading.
    private func recover(
        _ roots: [FilePath], _ state: EvictionDirectory, _ display: Progress
    ) async throws {
        let report = EvictionReport(.downloading, isJSON: json, failures: 0, display: display)
        let files = try evictedFiles(below: roots) { trouble in
            Messages.write(trouble)
            report.noteFailures(1)
        }
        var partial: [FilePath] = []
        for file in files {
            do {
                if try repair(file.path, state) == .partial { partial.append(file.path) }
            } catch {
                report.note(
                    EvictionOutcome(file.path, size: file.status.size, refusedBy: error))
            }
        }
        try await download(partial, state, repository, report)
        try report.finish()
    }

    /// Removes a snapshot that keeps evicted files.
    private func remove(_ digits: String) async throws {
        guard let choice = SnapshotChoice(digits) else { return }
        let engine = try await running { [repository] in try repository.engine() }
        let snapshot = try await running { try engine.snapshot(choice, among: await engine.list()) }
        guard snapshot.isPinned else {
            Messages.write(
                "snapshot \(snapshot.shortIdentifier) keeps no evicted files")
            throw ExitCode(1)
        }
        if !yes {
            let count = try await running { () async throws -> Int? in
                do {
                    return try await engine.record(of: snapshot).kept.count
                } catch let error as BackupError where error.code.mayConcernOneSnapshot {
                    return nil
                }
            }
            try confirm(
                "about to remove snapshot \(snapshot.shortIdentifier), which keeps the content of "
                    + (count.map { counted($0, "evicted file") } ?? "files that it has no record of")
            )
        }
        try await running { try await engine.remove([snapshot]) }
    }

    /// Looks through directories, without any path through the home, and prints what is evicted.
    ///
    /// - Throws: `ExitCode` 3 when something could not be read.
    private func writeList(of paths: [FilePath], _ display: Progress) throws {
        var buffer = OutputBuffer()
        var troubles: [FileError] = []
        for file in try evictedFiles(below: paths, report: { troubles.append($0) }) {
            if let sign = file.sign { write(file, sign, to: &buffer) }
        }
        display.end()
        buffer.flush()
        for trouble in troubles { Messages.write(trouble) }
        if !troubles.isEmpty { throw ExitCode(3) }
    }

    private func write(
        _ file: RegularFiles.File, _ sign: EvictionSign, to buffer: inout OutputBuffer
    ) {
        guard !json else {
            var line = JSONLine.output()
            line.add("type", "evicted")
            line.add(path: file.path.bytes)
            line.add("state", sign.state)
            line.add("size", file.status.size)
            line.add("modified", file.status.contentModificationTime)
            line.add("repository", sign.record?.repository)
            line.add("snapshot", sign.record?.snapshot)
            line.add("item", sign.record?.item)
            return line.end(in: &buffer)
        }
        buffer.append(path: file.path)
        buffer.append(text: ": \(sign.state), \(sizeText(file.status.size))")
        if let record = sign.record {
            buffer.append(text: " in snapshot \(record.snapshot.prefix(8)) of repository ")
            buffer.append(text: "\(record.repository.prefix(8))")
        }
        buffer.append("\n")
        buffer.endRecord()
    }
}

extension EvictionSign {
    fileprivate var state: String {
        switch self {
        case .placeholder: "evicted"
        case .unfinished: "cut-off"
        case .exposed: "exposed"
        case .stale: "changed"
        case .unrecorded: "unrecorded"
        }
    }
}
