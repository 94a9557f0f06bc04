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

/// Files whose eviction or download was interrupted, after a repair.
struct RecoveredFiles {
    /// Those that are whole again.
    var whole: [EvictedFile] = []
    /// Those that lack parts of their content, which only their snapshot contains.
    var partial: [EvictedFile] = []
}

/// Repairs what interrupted evictions and downloads left, as far as that needs no repository.
func recoverFiles(in journal: Journal) throws -> RecoveredFiles {
    var recovered = RecoveredFiles()
    for file in try journal.contents().files where file.state != .evicted {
        do {
            switch try journal.recover(file) {
            case .settled: break
            case .whole:
                Messages.write(about: file.path, "is restored")
                recovered.whole.append(file)
            case .placeholder: Messages.write(about: file.path, "is evicted now")
            case .partial: recovered.partial.append(file)
            case .ordinary: Messages.warn(about: file.path.bytes, ordinary(file))
            case .gone: Messages.warn(about: file.path.bytes, gone(file))
            }
        } catch EvictionError.inUse {
            // Another process is working on the file.
        } catch {
            Messages.warn(
                about: file.path.bytes, EvictionError(error, at: file.path).sentence)
        }
    }
    return recovered
}

private func ordinary(_ file: EvictedFile) -> String {
    "was left alone: it has changed since its eviction or download was interrupted (its "
        + "content before is in snapshot \(file.snapshot.prefix(8)))"
}

private func gone(_ file: EvictedFile) -> String {
    "its eviction or download was interrupted, and it does not exist any more (if it "
        + "was moved: resval-backup download NEWPATH; its content is in snapshot "
        + "\(file.snapshot.prefix(8)))"
}
