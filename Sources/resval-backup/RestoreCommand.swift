import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a snapshot below a directory.",
        discussion: """
            Each item gets its whole path below the directory: /home/me/notes comes back as \
            DIR/home/me/notes. Evicted files come back from the snapshots that keep their content. \
            What cannot be restored whole is named and left out, and the exit code is 3, or 1 when \
            nothing was restored.
            """)

    @Argument(
        help: ArgumentHelp(
            "The first digits of a snapshot's ID, or latest: the newest one that "
                + "resval-backup made on this machine.",
            valueName: "snapshot"))
    var snapshot: String

    @Option(
        help: ArgumentHelp("The directory; it must be empty or not exist.", valueName: "dir"))
    var target: PathArgument

    @Option(
        help: ArgumentHelp(
            "Restore only this path, and all below it; may be repeated.", valueName: "path"))
    var include: [PathArgument] = []

    @Flag(
        help: """
            Restore into a directory that is not empty, and replace files by name: links are not \
            followed, and other names of a file keep its content.
            """)
    var overwrite = false

    @Flag(help: "Print the result as a JSON object: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        guard SnapshotChoice(snapshot) != nil else {
            throw ValidationError(
                "a snapshot is named by at least four hexadecimal digits, or latest")
        }
        for path in include where !path.path.isAbsolute {
            throw ValidationError("give the absolute path as it was backed up")
        }
    }

    func run() async throws {
        guard let choice = SnapshotChoice(snapshot) else { return }
        let display = progress.begin("reading the snapshot")
        defer { display.end() }
        let includes = include.map { Array($0.path.lexicallyNormalized().bytes) }
        let result = try await running { [repository, target, overwrite] in
            let result = try await repository.engine(showing: display).restore(
                choice, to: target.path, including: includes, overwrites: overwrite,
                report: reporter(display))
            return try await restoreEvicted(
                result, repository, to: target.path, overwrites: overwrite)
        }
        display.end()
        for failure in result.failures {
            Messages.write(about: failure.path, failure.sentence)
        }
        for leftover in result.leftovers {
            Messages.warn(
                about: leftover.bytes,
                "was left by a restore that was killed: remove it when it is not needed")
        }
        for complaint in result.complaints { Messages.write(about: [UInt8]?.none, complaint) }
        write(result)
        guard result.isComplete else {
            throw ExitCode(result.isNothing ? 1 : 3)
        }
    }

    private func write(_ result: RestoreResult) {
        var buffer = OutputBuffer()
        if json {
            var line = JSONLine.output()
            line.add("snapshot", result.snapshot.identifier)
            line.add("isComplete", result.isComplete)
            line.add("items", result.items)
            line.add("target", "targetBase64", target.bytes)
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
        } else {
            buffer.append(text: "snapshot \(result.snapshot.shortIdentifier): ")
            buffer.append(text: result.isComplete ? "" : "\(result.wholeItems) of ")
            buffer.append(text: "\(counted(result.items, "item")) restored\n")
            let places = include.isEmpty ? result.snapshot.sources : include.map(\.path)
            for place in places {
                buffer.append(path: place)
                buffer.append(" is now ")
                buffer.append(path: target.path.pushing(place.relative))
                buffer.append("\n")
            }
        }
        buffer.flush()
    }
}

extension FilePath {
    /// The path without its leading slash.
    fileprivate var relative: FilePath { FilePath(root: nil, components) }
}

/// Restores the evicted files that a snapshot excluded, each from the repository that keeps its content.
private func restoreEvicted(
    _ result: RestoreResult, _ repository: RepositoryOptions, to target: FilePath, overwrites: Bool
) async throws -> RestoreResult {
    let state = stateHome().map { EvictionDirectory(stateHome: $0) }
    var failures = result.failures
    var complaints = result.complaints
    let groups = Dictionary(grouping: result.evicted) { $0.record?.repository }
    for (identifier, group) in groups.sorted(by: { $0.key ?? "" < $1.key ?? "" }) {
        do {
            let files = group.compactMap(EvictedRestoring.File.init)
            guard let identifier else {
                throw BackupError(.noRepository, "an older version did not record where it is")
            }
            let restoring = EvictedRestoring(
                try await repository.holder(of: identifier, state), to: target,
                overwrites: overwrites)
            let (failed, complained) = try await restoring.restore(files)
            failures += failed
            complaints += complained
        } catch let error as BackupError where error.code != .interrupted {
            failures += group.map { file in
                RestoreFailure(
                    path: file.path, cause: .missing("\(file.sentence); \(error.description)"))
            }
        }
    }
    var whole = RestoreResult(
        snapshot: result.snapshot, items: result.items + result.evicted.count,
        failures: failures, complaints: complaints, leftovers: result.leftovers)
    whole.evicted = result.evicted
    return whole
}
