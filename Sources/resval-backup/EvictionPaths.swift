import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import Eviction
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
