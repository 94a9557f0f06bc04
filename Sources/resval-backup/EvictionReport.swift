import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

/// A report that prints and counts the outcome for each file to evict or download.
final class EvictionReport: Sendable {
    /// The operation that is reported.
    enum Work: Sendable {
        case evicting
        case downloading
    }

    fileprivate struct Totals: Sendable {
        var files = 0
        var bytes: Int64 = 0
        var failures: Int
    }

    private let work: Work
    private let isJSON: Bool
    /// Shows the progress of the work; nil if none is shown.
    let display: Progress?
    private let totals: Monitor<Totals>

    /// - Parameter failures: the number of paths that have already failed.
    init(_ work: Work, isJSON: Bool, failures: Int, display: Progress? = nil) {
        self.work = work
        self.isJSON = isJSON
        self.display = display
        totals = Monitor(Totals(failures: failures))
    }

    /// Prints and counts the outcome for a file.
    @Sendable func note(_ outcome: EvictionOutcome) {
        totals.withLock { $0.add(outcome) }
        var buffer = OutputBuffer()
        if isJSON {
            write(json: outcome, to: &buffer)
        } else {
            write(outcome, to: &buffer)
        }
        buffer.flush()
        if case .refused(let error) = outcome.end, !isJSON || outcome.isFailure {
            Messages.write(about: outcome.path, error.sentence)
        }
    }

    /// Counts files whose repository failed as a whole, which was already reported.
    func noteFailures(_ count: Int) { totals.withLock { $0.failures += count } }

    /// Whether no file was processed successfully.
    var isNothingDone: Bool { totals.withLock { $0.files == 0 } }

    /// Prints the totals.
    ///
    /// - Throws: `ExitCode`: 1 when something failed and nothing was done, 3 when some files failed.
    func finish() throws {
        display?.end()
        let totals = totals.withLock { $0 }
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("files", totals.files)
            line.add("bytes", totals.bytes)
            line.add("failedItems", totals.failures)
            line.end(in: &buffer)
        } else {
            let verb = work == .evicting ? "freed" : "downloaded"
            buffer.append(text: "total: \(counted(totals.files, "file")), ")
            buffer.append(text: "\(sizeText(totals.bytes)) \(verb), ")
            buffer.append(text: "\(totals.failures) failed\n")
        }
        buffer.flush()
        guard totals.failures > 0 else { return }
        throw ExitCode(totals.files == 0 ? 1 : 3)
    }

    private func write(_ outcome: EvictionOutcome, to buffer: inout OutputBuffer) {
        let words: String
        switch outcome.end {
        case .done(let bytes):
            words = work == .evicting ? "evicted, \(sizeText(bytes)) freed" : "downloaded"
        case .planned: words = work == .evicting ? "would be evicted" : "would be downloaded"
        case .unneeded: words = "is not evicted"
        case .refused: return
        }
        buffer.append(path: outcome.path)
        buffer.append(text: ": \(words)\n")
        buffer.endRecord()
    }

    private func write(json outcome: EvictionOutcome, to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("type", "item")
        line.add(path: outcome.path.bytes)
        line.add("size", outcome.size)
        line.add("snapshot", outcome.snapshot)
        switch outcome.end {
        case .done(let bytes):
            line.add("result", work == .evicting ? "evicted" : "downloaded")
            line.add("bytes", bytes)
        case .planned: line.add("result", "planned")
        case .unneeded: line.add("result", "unneeded")
        case .refused(let error):
            line.add("result", outcome.isFailure ? "refused" : "unneeded")
            line.add("reason", error.name)
            line.add("sentence", error.sentence)
        }
        line.end(in: &buffer)
    }
}

extension EvictionReport.Totals {
    fileprivate mutating func add(_ outcome: EvictionOutcome) {
        switch outcome.end {
        case .done(let done):
            files += 1
            bytes.addSaturating(done)
        case .planned:
            files += 1
            bytes.addSaturating(outcome.size)
        case .unneeded: files += 1
        case .refused:
            if outcome.isFailure { failures += 1 }
        }
    }
}

/// The files that `evict` and `download` work on.
struct EvictionPaths: ParsableArguments {
    @Argument(help: "Files, or directories with -R. Put -- before names that begin with a dash.")
    var paths: [PathOperand] = []

    @Flag(name: [.customShort("R"), .long], help: "Include regular files below directories.")
    var recursive = false

    /// The files that the paths expand to.
    struct Expansion {
        /// The files as real paths, each once.
        var files: [FilePath] = []
        /// The number of files found below directories, and their allocated bytes.
        var found: (files: Int, bytes: Int64) = (0, 0)
        /// The number of paths that could not be expanded or read.
        var failures = 0
    }

    /// Finds the files.
    ///
    /// - Parameters:
    ///   - places: directories that are not entered.
    ///   - choice: which files below directories are included.
    func files(without places: NeededPlaces, wanting choice: RegularFiles.Choice) -> Expansion {
        var seen = Set<FilePath>()
        var result = Expansion()
        for argument in paths.paths {
            do throws(FileError) {
                let path = try realPath(of: argument.path, followsLast: false)
                guard recursive, try path.withoutFollowing.fileStatus().kind == .directory else {
                    if seen.insert(path).inserted { result.files.append(path) }
                    continue
                }
                let found = try RegularFiles(below: path, wanting: choice, without: places) {
                    StopRequest.isMade
                }
                // Of other users' files nothing can be downloaded, and their records decide nothing.
                let isForAll = if case .worthEvicting = choice { true } else { false }
                for file in found.files
                where (isForAll || file.status.owner == effectiveUser())
                    && seen.insert(file.path).inserted
                {
                    result.files.append(file.path)
                    result.found.files += 1
                    result.found.bytes.addSaturating(file.status.allocatedSize)
                }
                found.troubles.forEach { Messages.write($0) }
                result.failures += found.troubles.count
            } catch {
                Messages.write(error, at: argument)
                result.failures += 1
            }
        }
        return result
    }
}

/// Repairs what an interrupted eviction or download left of a file, as far as that needs no
/// repository, and reports it.
///
/// - Throws: `EvictionError` when the file is in use, or cannot be repaired.
func repair(_ file: FilePath, _ state: EvictionDirectory) throws -> Recovery {
    let recovery = try state.recover(at: file)
    switch recovery {
    case .whole: Messages.write(about: file, "is restored")
    case .placeholder: Messages.write(about: file, "is evicted now")
    case .settled, .partial: break
    }
    return recovery
}

/// The files below paths that show any sign of an eviction; without any path, those in the home.
///
/// - Parameter report: called for each error met on the way.
func evictedFiles(
    below paths: [FilePath], report: (FileError) -> Void
) throws -> [RegularFiles.File] {
    var seen = Set<FilePath>()
    var files: [RegularFiles.File] = []
    for root in try paths.isEmpty ? [home()] : paths {
        let found = try RegularFiles(
            below: try realPath(of: root, followsLast: false), wanting: .evicted,
            without: NeededPlaces()
        ) { StopRequest.isMade }
        found.troubles.forEach(report)
        files += found.files.filter { seen.insert($0.path).inserted }
    }
    return files
}

/// Returns the home of the user who runs the program.
///
/// - Throws: `ValidationError` where there is none.
private func home() throws -> FilePath {
    guard let home = currentBaseDirectories().home else {
        throw ValidationError("there is no home to look through: set HOME")
    }
    return home
}
