#if !canImport(Darwin)
import BackupPlanning
import EffectiveValues
import ResourceValues
import ResourceValuesDropIn
import StoragePolicy
import SystemCalls
import SystemPackage
import UsageReporting

/// The files of this program, and their measurement.
struct ProgramFiles: Sendable {
    /// What the program is installed in.
    var installation: [FilePath]
    /// What has its data.
    var data: [FilePath]

    /// The executable, and the directories with its name in the user's directories for data,
    /// settings, state and caches.
    static func usual() -> ProgramFiles {
        guard let executable = ThisProgram.file, let name = executable.lastComponent else {
            return ProgramFiles(installation: [], data: [])
        }
        let base = currentBaseDirectories()
        let directories = [base.dataHome, base.configurationHome, base.stateHome, base.cacheHome]
        return ProgramFiles(
            installation: [executable],
            data: directories.compactMap { $0?.path.appending(name) })
    }

    /// Measures the files. What does not exist takes nothing.
    func measure() throws(FileError) -> MXDiskSpaceUsageMetric {
        let installed = try realPaths(of: installation)
        let roots = try realPaths(of: data) + installed
        let environment = PolicyEnvironment.current()
        let planner = BackupPlanner(
            policy: StoragePolicy(locations: environment.locations), mounts: environment.mounts)
        var meter = UsageMeter(planner, locations: environment.locations)
        meter.countsSharedExtentsOnce = true
        let report = try meter.report(for: roots)
        if let problem = report.problems.first {
            throw FileError(code: .other, message: "\(problem)")
        }
        let metric = DiskSpaceMetric(
            report,
            installation: installed.filter { path in
                !installed.contains { $0 != path && path.isHeld(by: $0) }
            }, capacity: try roots.first?.volumeCapacity()?.total)
        guard let result = MXDiskSpaceUsageMetric(metric) else {
            throw FileError(
                code: .other, message: "the filesystem does not tell all of the numbers")
        }
        return result
    }

    private func realPaths(of paths: [FilePath]) throws(FileError) -> [FilePath] {
        var real: [FilePath] = []
        for path in paths {
            do throws(FileError) {
                real.append(try realPath(of: path))
            } catch  where error.code == .noSuchFile || error.code == .notADirectory {
                continue
            }
        }
        return real
    }
}

/// The file that this process was started from.
enum ThisProgram {
    /// The path that the file had when it was first asked for, also after an upgrade has replaced the
    /// file: `/proc/self/exe`; nil if that cannot be read.
    static let file: FilePath? = {
        let link: FilePath = "/proc/self/exe"
        guard let target = try? symbolicLinkTarget(link.withoutFollowing) else { return nil }
        let isThere = (try? target.fileStatus())?.identity
        let isRunning = (try? link.fileStatus())?.identity
        return path(of: target, isThere: isThere != nil && isThere == isRunning)
    }()

    /// Returns the path of a program's file.
    ///
    /// - Parameters:
    ///   - target: the target of `/proc/self/exe`, to which the kernel adds a word when the file was
    ///     removed or replaced. The name of a file may end in the same word.
    ///   - isThere: whether the target leads to the file.
    static func path(of target: FilePath, isThere: Bool) -> FilePath {
        let bytes = target.bytes
        let suffix = Array(" (deleted)".utf8)
        guard !isThere, bytes.suffix(suffix.count).elementsEqual(suffix) else { return target }
        return FilePath(bytes: bytes.dropLast(suffix.count))
    }

    /// The name by which timers and metrics belong to the program; empty if its file is not known.
    static let name = file.map { name(of: $0) } ?? []

    /// Returns the name of the program in a file: the file's name, a dot, and ``shortName(for:)`` of the
    /// path, since programs in several directories may have the same name.
    static func name(of file: FilePath) -> [UInt8] {
        (file.lastComponent?.bytes ?? []) + Array(".\(shortName(for: file.bytes))".utf8)
    }
}
#endif
