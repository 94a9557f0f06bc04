import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import ResourceValues
import SystemPackage

struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Restore the content of evicted files, in place.",
        discussion: """
            The content comes from the snapshot of the eviction, into the same file: name, \
            attributes, permission bits and time are what they were, wherever the file was moved. \
            It is compared before the file can be opened again. A file with other content is never \
            overwritten. The exit code is 3 when only a part was done.

            EXAMPLES
              resval-backup download ~/Videos/holiday.mkv
              resval-backup download -R ~/Videos
            """)

    @OptionGroup var paths: EvictionPaths

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        if paths.paths.isEmpty { throw ValidationError("give at least one path") }
    }

    func run() async throws {
        let state = try ownEvictionDirectory()
        let display = progress.begin("looking for files")
        let expansion = paths.files(without: NeededPlaces(), wanting: .evicted)
        let report = EvictionReport(
            .downloading, isJSON: json, failures: expansion.failures, display: display)
        var lacking: [FilePath] = []
        for file in expansion.files {
            // What stops the repair stops the download, which reports it.
            if (try? repair(file, state)) == .whole {
                report.note(EvictionOutcome(path: file, end: .unneeded))
            } else {
                lacking.append(file)
            }
        }
        try await download(lacking, state, repository, report)
        try report.finish()
    }
}

/// Each file's content comes from the named repository if that is the one in the file's record, otherwise
/// from the location that is noted for the repository identifier in the record.
func download(
    _ files: [FilePath], _ state: EvictionDirectory, _ repository: RepositoryOptions,
    _ report: EvictionReport
) async throws {
    var groups: [String: [FilePath]] = [:]
    for file in files {
        do {
            groups[try evictedFile(at: file).record.repository, default: []].append(file)
        } catch {
            report.note(EvictionOutcome(file, refusedBy: error))
        }
    }
    StopRequest.goOnWithoutOutput()
    var failure: ExitCode?
    for (identifier, group) in groups.sorted(by: { $0.key < $1.key }) {
        do {
            try await running {
                let holder = try await repository.holder(
                    of: identifier, state, showing: report.display)
                try await report.work(in: holder, state).download(group)
            }
        } catch let code as ExitCode where !StopRequest.isMade {
            report.noteFailures(group.count)
            failure = code
        }
    }
    if let failure, report.isNothingDone { throw failure }
}
