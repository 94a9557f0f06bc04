import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A report that prints and counts the outcome for each file to evict or download.
final class EvictionReport: Sendable {
    enum Work: Sendable {
        case evicting
        case downloading

        fileprivate var done: String { self == .evicting ? "evicted" : "downloaded" }
    }

    private let work: Work
    private let isJSON: Bool
    let display: Progress
    private let totals: Monitor<(files: Int, bytes: Int64, failures: Int)>

    /// - Parameter failures: the number of paths that have already failed.
    init(_ work: Work, isJSON: Bool, failures: Int, display: Progress) {
        self.work = work
        self.isJSON = isJSON
        self.display = display
        totals = Monitor((0, 0, failures))
    }

    func work(in engine: Restic, _ state: EvictionDirectory) -> EvictionWork {
        EvictionWork(
            engine, state, shouldStop: { StopRequest.isMade }, report: note)
    }

    @Sendable func note(_ outcome: EvictionOutcome) {
        var line = JSONLine.output()
        line.add("type", "item")
        line.add(path: outcome.path.bytes)
        line.add("size", outcome.size)
        line.add("snapshot", outcome.snapshot)
        var text: String?
        var bytes: Int64 = 0
        switch outcome.end {
        case .done(let done):
            line.add("result", work.done)
            line.add("bytes", done)
            text = work.done + (work == .evicting ? ", \(sizeText(done)) freed" : "")
            bytes = done
        case .planned:
            line.add("result", "planned")
            text = "would be \(work.done)"
            bytes = outcome.size
        case .unneeded:
            line.add("result", "unneeded")
            text = "is not evicted"
        case .refused(let error):
            line.add("result", outcome.isFailure ? "refused" : "unneeded")
            line.add("reason", error.name)
            line.add("sentence", error.sentence)
            if !isJSON || outcome.isFailure { Messages.write(about: outcome.path, error.sentence) }
        }
        totals.withLock {
            if text != nil { $0.files += 1 }
            $0.bytes.addSaturating(bytes)
            if outcome.isFailure { $0.failures += 1 }
        }
        var buffer = OutputBuffer()
        if isJSON {
            line.end(in: &buffer)
        } else if let text {
            buffer.append(path: outcome.path)
            buffer.append(text: ": \(text)\n")
            buffer.endRecord()
        }
        buffer.flush()
    }

    /// Counts files whose repository failed as a whole, which was already reported.
    func noteFailures(_ count: Int) { totals.withLock { $0.failures += count } }

    var isNothingDone: Bool { totals.withLock { $0.files == 0 } }

    /// - Throws: `ExitCode`: 1 when something failed and nothing was done, 3 when some files failed.
    func finish() throws {
        display.end()
        let totals = totals.withLock { $0 }
        let text =
            "total: \(counted(totals.files, "file")), \(sizeText(totals.bytes)) "
            + "\(work == .evicting ? "freed" : "downloaded"), \(totals.failures) failed"
        printResult(asJSON: isJSON, saying: text) { line in
            line.add("type", "totals")
            line.add("files", totals.files)
            line.add("bytes", totals.bytes)
            line.add("failedItems", totals.failures)
        } text: { buffer in
            buffer.append(text: "\(text)\n")
        }
        guard totals.failures > 0 else { return }
        throw ExitCode(totals.files == 0 ? 1 : 3)
    }
}

struct EvictionPaths: ParsableArguments {
    @Argument(help: "Files, or directories with -R.")
    var paths: [PathOperand] = []

    @Flag(name: [.customShort("R"), .long], help: "Include regular files below directories.")
    var recursive = false

    struct Expansion {
        /// The files as real paths, each once.
        var files: [FilePath] = []
        /// The number of files found below directories, and their allocated bytes.
        var found: (files: Int, bytes: Int64) = (0, 0)
        /// The number of paths that could not be expanded or read.
        var failures = 0
    }

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
                Messages.write(error, at: argument.bytes)
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

/// - Throws: `ValidationError` where no home is known.
private func home() throws -> FilePath {
    guard let home = currentBaseDirectories().home else {
        throw ValidationError("there is no home to look through: set HOME")
    }
    return home
}

/// Returns the directory of locks and repositories' locations of the user who runs the program.
///
/// - Throws: `FileError` when neither `$XDG_STATE_HOME` nor a home is known.
func ownEvictionDirectory() throws(FileError) -> EvictionDirectory {
    EvictionDirectory(stateHome: try StateDirectory.path().removingLastComponent())
}

/// Returns what is never evicted: the repository, the files that restic's environment names, among them
/// in the command that prints the password, and the directories of settings, keys and state.
func neededPlaces(
    _ options: RepositoryOptions, in environment: PolicyEnvironment
) throws -> NeededPlaces {
    var places = NeededPlaces()
    let access = try options.access()
    if let directory = access?.location.directory { places.add(repository: directory) }
    if let file = access?.passwordFile { places.add(file, "the repository's password") }
    for variable in access?.environment ?? [] {
        let value = Array(variable.drop { $0 != UInt8(ascii: "=") }.dropFirst())
        let isPassword = variable.starts(with: "RESTIC_PASSWORD".utf8)
        let words = wordsOfPasswordCommand(value)
        // A word may be a command of its own, for a shell.
        for word in [value] + words + words.flatMap(wordsOfPasswordCommand) {
            let path = FilePath(bytes: word)
            guard isPassword || path.isAbsolute, (try? path.status().kind) == .regularFile
            else { continue }
            places.add(path, isPassword ? "what gives the password" : "named in the environment")
        }
    }
    if let file = options.configuration.file { places.add(file, "the configuration") }
    let base = environment.base
    if let state = base.stateHome { places.add(state.path, "in the directory of state") }
    if let settings = base.configurationHome {
        places.add(settings.path, "in the directory of settings")
    }
    for home in base.homes {
        places.add(home.appending(".ssh"), "in the directory of SSH keys")
        places.add(home.appending(".gnupg"), "in the directory of GnuPG keys")
    }
    return places
}
