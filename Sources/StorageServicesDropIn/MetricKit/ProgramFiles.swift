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
    func measure() -> Result<MXDiskSpaceUsageMetric, MetricObstacle> {
        do throws(FileError) {
            let installed = try realPaths(of: installation)
            let roots = try realPaths(of: data) + installed
            let environment = PolicyEnvironment.current()
            let planner = BackupPlanner(
                policy: StoragePolicy(locations: environment.locations),
                mounts: environment.mounts)
            var meter = UsageMeter(planner, locations: environment.locations)
            meter.countsSharedExtentsOnce = true
            let report = try meter.report(for: roots)
            if let problem = report.problems.first {
                return .failure(MetricObstacle(reason: "\(problem)"))
            }
            let metric = DiskSpaceMetric(
                report,
                installation: installed.filter { path in
                    !installed.contains { $0 != path && path.isHeld(by: $0) }
                }, capacity: try roots.first?.volumeCapacity()?.total)
            guard let result = MXDiskSpaceUsageMetric(metric) else {
                return .failure(
                    MetricObstacle(reason: "the filesystem does not tell all of the numbers"))
            }
            return .success(result)
        } catch {
            return .failure(MetricObstacle(reason: "\(error)"))
        }
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
#endif
