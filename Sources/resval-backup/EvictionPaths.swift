import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import Eviction
import SystemCalls
import SystemPackage

/// The files that `evict` and `download` work on.
struct EvictionPaths: ParsableArguments {
    @Argument(help: "Files, or directories with -R. Put -- before names that begin with a dash.")
    var paths: [PathArgument] = []

    @Flag(name: [.customShort("R"), .long], help: "Take all regular files below directories.")
    var recursive = false

    /// The files as real paths, each once, and how many paths were none.
    ///
    /// - Parameter places: directories that are not entered.
    func files(without places: NeededPlaces) -> (files: [FilePath], failures: Int) {
        var seen = Set<FilePath>()
        var files: [FilePath] = []
        var failures = 0
        for argument in paths {
            do throws(FileError) {
                let found = try expand(argument, places)
                files += found.files.filter { seen.insert($0).inserted }
                found.troubles.forEach { Messages.write($0) }
                failures += found.troubles.count
            } catch {
                Messages.write(error, at: argument)
                failures += 1
            }
        }
        return (files, failures)
    }

    private func expand(
        _ argument: PathArgument, _ places: NeededPlaces
    ) throws(FileError) -> (files: [FilePath], troubles: [FileError]) {
        let path = try realPath(of: argument.path, followsLast: false)
        guard recursive, try kind(of: path) == .directory else { return ([path], []) }
        let found = try RegularFiles(below: path, without: places) { StopRequest.isMade }
        return (found.files, found.troubles)
    }

    private func kind(of path: FilePath) throws(FileError) -> FileKind {
        do throws(Errno) {
            return try path.withoutFollowing.status().kind
        } catch {
            throw .readingStatus(error, of: path)
        }
    }
}
