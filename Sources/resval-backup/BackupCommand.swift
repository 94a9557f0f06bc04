import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import ResourceValues
import SystemCalls

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resval-backup",
        abstract: "Back up everything but what marks and locations exclude.",
        discussion: """
            The fields of --json and of --progress json are in resval-json(5).

            EXAMPLES
              resval-backup setup              from nothing to a backup that a timer makes
              resval-backup run                a backup now
              resval-backup restore ~/notes    what was deleted, or its last version
              resval-backup status             whether the last backup is complete

            EXIT CODES
              0 done, 1 failed, 3 incomplete or less than before, 10 no repository,
              11 locked, 12 wrong password, 64 wrong command line, 130 interrupted
            """,
        subcommands: [
            SetupCommand.self, RunCommand.self, RestoreCommand.self, StatusCommand.self,
            PlanCommand.self, SnapshotsCommand.self, ShowCommand.self, DiffCommand.self,
            VerifyCommand.self, EvictCommand.self, DownloadCommand.self, AcceptCommand.self,
            InitCommand.self, CreateCommand.self, ForgetCommand.self, PruneCommand.self,
        ])

    @OptionGroup var version: VersionOption
}

extension BackupCommand: ValueKnowing {
    /// Returns the snapshots of the repository that the words, the environment or the configuration name, as
    /// they were listed last.
    static func knownValues(after words: [String]) -> [(word: String, summary: String)] {
        let names = ["--repository", "--config"]
        let options = zip(words, words.dropFirst() + [""]).flatMap { word, next in
            if names.contains(word) { return [word, next] }
            return names.contains { word.hasPrefix("\($0)=") } ? [word] : []
        }
        let repository = try? RepositoryOptions.parse(options).location()
        let state = try? StateDirectory.path()
        let listed = repository.flatMap { place in state.map { place.listedSnapshots(in: $0) } }
        return [("latest", "the one made last on this machine")] + (listed ?? [])
    }

    static func knownItems(beginningWith word: [UInt8]) -> [[UInt8]] {
        (try? StateDirectory.path()).map { storedItems(beginningWith: word, in: $0) } ?? []
    }
}

/// Runs work that a stop request cancels, and reports on standard error why it failed.
func running<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let task = Task(operation: work)
    let watcher = Task {
        while !StopRequest.isMade { try await Task.sleep(for: .milliseconds(50)) }
        task.cancel()
    }
    defer { watcher.cancel() }
    do {
        return try await task.value
    } catch let error as BackupError {
        Messages.write(about: error.path?.bytes, Advice.completed(error.description))
        throw ExitCode(error.code.exitCode)
    } catch let error as SourceError {
        Messages.write(about: error.path.bytes, error.description)
        throw ExitCode(1)
    } catch is CancellationError {
        throw ExitCode(BackupError.Code.interrupted.exitCode)
    }
}

/// - Parameter deed: what was changed, in words: said on standard error where the result could not be
///   written.
func printResult(
    asJSON isJSON: Bool, saying deed: String? = nil, _ addFields: (inout JSONLine) -> Void,
    text writeText: (inout OutputBuffer) -> Void
) {
    var buffer = OutputBuffer()
    if isJSON {
        var line = JSONLine.output()
        addFields(&line)
        line.end(in: &buffer)
    } else {
        writeText(&buffer)
    }
    if let deed { buffer.finish(saying: deed) } else { buffer.flush() }
}

/// - Throws: `ExitCode` 1 for any answer but yes, `ValidationError` without a terminal to ask on.
func confirm(_ question: String) throws {
    guard Messages.canAsk else {
        throw ValidationError("\(question): give --yes where there is no terminal")
    }
    if !Messages.confirm(about: nil, question) { throw ExitCode(1) }
}

/// Takes the place of the C library's setpriority(2) in this program, and leaves priorities alone.
///
/// libdispatch, on which Swift runs tasks, gives each of its threads a priority that follows from the
/// task's. That would undo what `nice` or the service's `Nice=` set, for restic too; where it is not
/// permitted, libdispatch writes an error to the system's log for each thread.
@_cdecl("setpriority")
func leavePriorityAlone(_ kind: CInt, _ identifier: CUnsignedInt, _ value: CInt) -> CInt { 0 }

/// Returns a callback that shows what an engine reports; nil shows nothing.
func reporter(_ display: Progress?) -> @Sendable (BackupProgress) -> Void {
    { progress in
        display?.set(
            progress.noun, done: progress.filesDone.map { Int(clamping: $0) },
            total: progress.filesTotal > 0 ? Int(clamping: progress.filesTotal) : nil,
            bytes: progress.bytesDone,
            totalBytes: progress.bytesTotal > 0 ? progress.bytesTotal : nil)
    }
}

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a repository.",
        discussion: """
            Without its password a repository cannot be read: keep a copy of it outside the backup.
            """)

    @OptionGroup var repository: RepositoryOptions

    @Flag(
        name: [.short, .long],
        help: "Make it also where a repository was before, or a disk may not be mounted.")
    var yes = false

    @Flag(help: "Print the result as a JSON object: see resval-json(5).")
    var json = false

    func run() async throws {
        let engine = try await running { [repository] in try repository.engine() }
        if !yes, let doubt = engine.doubtAboutInitializing {
            try confirm("about to make a new repository, although \(doubt)")
        }
        let identifier = try await repository.working("making the repository") { [json] engine in
            try await engine.initialize()
            return json ? try await engine.repositoryIdentifier() : nil
        }
        Messages.write("a repository is lost without its password (keep a copy elsewhere)")
        printResult(asJSON: json) {
            $0.add("repository", identifier)
        } text: { _ in
        }
    }
}

struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Remove data that no snapshot needs.",
        discussion: """
            Needs the repository for itself.
            """)

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    @Flag(help: "Print the result as a JSON object: see resval-json(5).")
    var json = false

    func run() async throws {
        let size = try await repository.working("reading the repository", progress) {
            try await $0.prune()
        }
        writePruned(size, asJSON: json)
    }
}

/// - Parameter size: what was removed, as restic prints it.
func writePruned(_ size: String?, asJSON isJSON: Bool = false) {
    let bytes = size.flatMap { ByteSize(argument: $0)?.bytes }
    printResult(asJSON: isJSON) { line in
        line.add("removedBytes", bytes)
    } text: { buffer in
        let amount = bytes.map { "\(sizeText($0)) of " } ?? ""
        buffer.append(text: "removed \(amount)data that no snapshot needs\n")
    }
}
