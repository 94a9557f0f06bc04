import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import Eviction
import SystemCalls
import SystemPackage

/// `resval-backup download`.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Restore the content of evicted files, in place.",
        discussion: """
            The content comes from the snapshot of the eviction, into the same file: name, \
            attributes, permission bits and time are what they were, wherever the file was moved. \
            It is compared before the file can be opened again. A file that is no longer the \
            placeholder is never overwritten.

            Without a repository, each file's own is used.

            \(EvictionReport.fields(.downloading))
            \(JSONFields.progress)

            EXAMPLES
              resval-backup download ~/Videos/holiday.mkv
              resval-backup download -R ~/Videos

            EXIT CODES
              0  all done
              1  nothing done
              3  parts done; see also resval-backup(1)
            """)

    @OptionGroup var paths: EvictionPaths
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    @Flag(
        name: [.customShort("n"), .customLong("dry-run")],
        help: "Only show what would be downloaded.")
    var isDryRun = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        if paths.paths.isEmpty { throw ValidationError("give at least one path") }
    }

    func run() async throws {
        let journal = try ownJournal(in: PolicyEnvironment.current())
        let display = progress.begin("looking for files")
        let recovered = isDryRun ? RecoveredFiles() : try recoverFiles(in: journal)
        let expansion = paths.files(without: NeededPlaces(), wanting: .evicted)
        let report = EvictionReport(
            .downloading, isJSON: json, failures: expansion.failures, display: display)
        let whole = Set(recovered.whole.map(\.path))
        for file in expansion.files where whole.contains(file) {
            report.note(EvictionOutcome(path: file, end: .unneeded))
        }
        let lacking = expansion.files.filter { !whole.contains($0) }
        try await download(lacking, journal, repository, report, isDryRun: isDryRun)
        try report.finish()
    }
}

/// Brings the content of evicted files back.
///
/// Each file's content comes from the named repository if that is the one in the file's record, otherwise
/// from the location that the journal has for the repository identifier in the record.
func download(
    _ files: [FilePath], _ journal: Journal, _ repository: RepositoryOptions,
    _ report: EvictionReport, isDryRun: Bool = false
) async throws {
    var groups: [String: [FilePath]] = [:]
    for file in files {
        do {
            groups[try evictedFile(at: file).record.repository, default: []].append(file)
        } catch {
            report.note(
                EvictionOutcome(path: file, end: .refused(EvictionError(error, at: file))))
        }
    }
    var failure: ExitCode?
    for (identifier, group) in groups.sorted(by: { $0.key < $1.key }) {
        do {
            try await running {
                let holder: Restic
                do {
                    holder = try await repository.holder(of: identifier, journal)
                } catch let error as BackupError {
                    journal.note(error, of: group)
                    throw error
                }
                var downloading = FileDownloading(holder: holder, journal: journal)
                downloading.isDryRun = isDryRun
                downloading.shouldStop = { StopRequest.isMade }
                downloading.progress = reporter(report.display)
                try await downloading.download(group, report: report.note)
            }
        } catch let code as ExitCode where !StopRequest.isMade {
            report.noteFailures(group.count)
            failure = code
        }
    }
    if let failure, report.isNothingDone { throw failure }
}
