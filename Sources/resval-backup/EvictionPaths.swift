import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

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

/// Returns the directory of locks and repositories' locations of the user who runs the program.
///
/// - Throws: `FileError` when neither `$XDG_STATE_HOME` nor a home is known.
func ownEvictionDirectory(
    in environment: PolicyEnvironment
) throws -> EvictionDirectory {
    guard let state = environment.base.stateHome else {
        throw FileError(
            code: .other, message: "there is no directory for the locks of evicted files",
            advice: "set HOME or XDG_STATE_HOME")
    }
    return EvictionDirectory(stateHome: state.path)
}

/// Returns what is never evicted: the repository and its password file, and the directories of
/// settings, keys and state.
///
/// - Throws: as ``RepositoryOptions/access()`` does.
func neededPlaces(
    _ options: RepositoryOptions, in environment: PolicyEnvironment
) throws -> NeededPlaces {
    var places = NeededPlaces()
    let access = try options.access()
    if let directory = access?.location.directory { places.add(directory, "the repository") }
    if let file = access?.passwordFile { places.add(file, "the repository's password") }
    if let config = options.configuration.config { places.add(config.path, "the configuration") }
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
