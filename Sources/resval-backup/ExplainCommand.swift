import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup explain`.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show in which snapshots items still are, and how to take them out.",
        discussion: """
            Excluding an item leaves it in the snapshots that were made before. For each path, the \
            snapshots of this machine that contain it are listed, with how much of it, and the \
            command that takes it out of them: restic's rewrite. Snapshots that keep evicted files are \
            listed, and left out of the command: they may have the only copy.

            A path that does not exist any more is given as it was backed up. The exit code is 3 \
            when a snapshot could not be read.

            JSON FIELDS
            \(JSONFields.item)
              snapshots[].snapshot: string
              snapshots[].time: time
              snapshots[].items: number
              snapshots[].bytes: number
              snapshots[].isPinned: boolean (whether it keeps evicted files)
              command: string or null
            \(JSONFields.progress)

            EXAMPLES
              resval-backup explain --in-snapshots ~/Videos/raw
            """)

    @Argument(help: ArgumentHelp("The items.", valueName: "path"))
    var paths: [PathArgument]

    @Flag(help: "Look for the items in snapshots.")
    var inSnapshots = false

    @Flag(help: "Print one JSON object per path.")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        guard inSnapshots else {
            throw ValidationError(
                "give --in-snapshots (what applies to an item on disk: resval explain)")
        }
    }

    func run() async throws {
        let display = progress.begin("reading the repository")
        defer { display.end() }
        let engine = try await running { [repository] in
            try repository.engine(showing: display)
        }
        var isComplete = true
        for argument in paths {
            let path = try backedUpPath(argument.path)
            let (occurrences, rewriting) = try await running { [repository] in
                let found = try await engine.occurrences(of: path.bytes)
                let removable = found.found.filter { !$0.snapshot.isPinned }
                guard let restic = engine as? Restic, !removable.isEmpty else {
                    return (found, [[UInt8]]?.none)
                }
                return (
                    found,
                    try restic.rewriting(
                        path.bytes, keepsDirectory: removable.allSatisfy(\.isDirectory),
                        in: removable.map(\.snapshot),
                        passwordFile: repository.access()?.passwordFile)
                )
            }
            var buffer = OutputBuffer()
            if json {
                write(json: path, occurrences, rewriting, to: &buffer)
            } else {
                write(path, occurrences, rewriting, to: &buffer)
            }
            buffer.flush()
            for (snapshot, reason) in occurrences.unreadable {
                Messages.write(
                    about: path,
                    "may be in snapshot \(snapshot.prefix(8)), which cannot be read: \(reason)")
                isComplete = false
            }
        }
        if !isComplete { throw ExitCode(3) }
    }

    private func write(
        _ path: FilePath, _ occurrences: Occurrences, _ rewriting: [[UInt8]]?,
        to buffer: inout OutputBuffer
    ) {
        let found = occurrences.found
        buffer.append(path: path)
        buffer.append(
            text: ": in \(found.isEmpty ? "no snapshot" : counted(found.count, "snapshot"))"
                + " of this machine\n")
        for occurrence in found {
            let snapshot = occurrence.snapshot
            buffer.append(
                text: "  \(snapshot.shortIdentifier)  \(snapshot.time.rfc3339ToTheSecond)  "
                    + "\(counted(occurrence.items, "item")), \(sizeText(occurrence.bytes))"
                    + "\(snapshot.isPinned ? ", keeps evicted files" : "")\n")
        }
        if let rewriting {
            buffer.append(text: "\(line(rewriting))\n")
            buffer.append(text: "\(Advice.completed("resval-backup prune"))\n")
        } else if found.contains(where: { !$0.snapshot.isPinned }) {
            buffer.append(text: "# archives cannot be rewritten; forget removes whole snapshots\n")
        }
    }

    private func write(
        json path: FilePath, _ occurrences: Occurrences, _ rewriting: [[UInt8]]?,
        to buffer: inout OutputBuffer
    ) {
        var line = JSONLine.output()
        line.add(path: path.bytes)
        line.add("snapshots", objects: occurrences.found) { occurrence, object in
            object.add("snapshot", occurrence.snapshot.identifier)
            object.add("time", occurrence.snapshot.time)
            object.add("items", occurrence.items)
            object.add("bytes", occurrence.bytes)
            object.add("isPinned", occurrence.snapshot.isPinned)
        }
        line.add("command", rewriting.map(self.line))
        line.end(in: &buffer)
    }

    private func line(_ rewriting: [[UInt8]]) -> String {
        rewriting.map(ShellWord.quoted).joined(separator: " ")
    }
}

/// Returns the path under which an item is in snapshots: its real path, or its normalized path when it
/// does not exist any more.
///
/// - Parameter followsLast: whether a symbolic link stands for its target, as for a SOURCE.
/// - Throws: ``FileError`` when it cannot be reached; a path that does not exist has to be absolute.
func backedUpPath(
    _ path: FilePath, followsLast: Bool = false
) throws(FileError) -> FilePath {
    do throws(FileError) {
        return try realPath(of: path, followsLast: followsLast)
    } catch  where error.code == .noSuchFile && path.isAbsolute {
        return path.lexicallyNormalized()
    }
}
