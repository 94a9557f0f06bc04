import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage

/// The files that `evict` and `download` work on.
struct EvictionPaths: ParsableArguments {
    @Argument(help: "Files, or directories with -R. Put -- before names that begin with a dash.")
    var paths: [PathArgument] = []

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
        for argument in paths {
            do throws(FileError) {
                let path = try realPath(of: argument.path, followsLast: false)
                guard recursive, try path.withoutFollowing.fileStatus().kind == .directory else {
                    if seen.insert(path).inserted { result.files.append(path) }
                    continue
                }
                let found = try RegularFiles(below: path, wanting: choice, without: places) {
                    StopRequest.isMade
                }
                for file in found.files where seen.insert(file.path).inserted {
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

/// The option for evicted files whose content a backup's repository does not keep.
struct WithEvictedOption: ParsableArguments {
    @Flag(
        help: """
            First download evicted files whose content the backup's repository does not keep. \
            Without it, they are named and the exit code is 3.
            """)
    var withEvicted = false
}
