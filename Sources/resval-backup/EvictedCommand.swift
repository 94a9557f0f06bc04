import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup evicted`.
struct EvictedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evicted",
        abstract: "List evicted files, with the snapshots of their content.",
        discussion: """
            Looks through directories, without any path through the home. A file is evicted, \
            cut-off (its eviction or download was interrupted; resval-backup download restores its \
            content), exposed (it has permission bits, and reads as zeros), changed (it has other \
            content; the snapshot has what was evicted) or unrecorded (it looks evicted, and has \
            no record of where its content is).

            JSON FIELDS
            \(JSONFields.item)
              state: string (evicted, cut-off, exposed, changed, unrecorded)
              size: number
              modified: time
              repository: string or null (null without a record)
              snapshot: string or null (its first 16 digits)
              item: number or null
              failure: string or null (of the last download)
            \(JSONFields.progress)
            """)

    @Argument(help: "Only these files, and what is below these directories.")
    var paths: [PathArgument] = []

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        let display = progress.begin("looking for files")
        defer { display.end() }
        let journal = try ownJournal(in: PolicyEnvironment.current())
        let roots = try paths.isEmpty ? [home()] : paths.map(\.path)
        var buffer = OutputBuffer()
        var troubles: [FileError] = []
        var seen = Set<FilePath>()
        for root in roots {
            let found = try RegularFiles(
                below: try realPath(of: root, followsLast: false), wanting: .evicted,
                without: NeededPlaces()
            ) { StopRequest.isMade }
            troubles += found.troubles
            for file in found.files where seen.insert(file.path).inserted {
                guard let sign = file.sign else { continue }
                write(
                    file, sign, try journal.downloads.failure(of: file.status.identity), to: &buffer
                )
            }
        }
        display.end()
        buffer.flush()
        for trouble in troubles { Messages.write(trouble) }
        if !troubles.isEmpty { throw ExitCode(3) }
    }

    private func write(
        _ file: RegularFiles.File, _ sign: EvictionSign, _ failure: String?,
        to buffer: inout OutputBuffer
    ) {
        guard !json else {
            var line = JSONLine.output()
            line.add(path: file.path.bytes)
            line.add("state", sign.state)
            line.add("size", file.status.size)
            line.add("modified", file.status.contentModificationTime)
            line.add("repository", sign.record?.repository)
            line.add("snapshot", sign.record?.snapshot)
            line.add("item", sign.record?.item)
            line.add("failure", failure)
            return line.end(in: &buffer)
        }
        buffer.append(path: file.path)
        buffer.append(text: ": \(sign.state), \(sizeText(file.status.size))")
        if let record = sign.record {
            buffer.append(text: " in snapshot \(record.snapshot.prefix(8)) of repository ")
            buffer.append(text: "\(record.repository.prefix(8))")
        }
        if let failure {
            buffer.append("; the last download failed: ")
            buffer.append(name: Array(failure.utf8))
        }
        buffer.append("\n")
        buffer.endRecord()
    }
}

/// Returns the home of the user who runs the program.
///
/// - Throws: `ValidationError` where there is none.
func home() throws -> FilePath {
    guard let home = currentBaseDirectories().home else {
        throw ValidationError("there is no home to look through: set HOME")
    }
    return home
}

extension EvictionSign {
    /// The name of the file's state, as printed.
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
