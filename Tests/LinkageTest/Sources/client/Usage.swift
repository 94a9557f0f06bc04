import BackupPlanning
import EffectiveValues
import StoragePolicy
import SystemPackage
import UsageReporting

/// A storage screen: shows what happens to the bytes of a directory.
func showUsage(of home: FilePath) throws {
    let environment = PolicyEnvironment.current()
    let planner = BackupPlanner(
        policy: StoragePolicy(locations: environment.locations), mounts: environment.mounts)
    var meter = UsageMeter(planner, locations: environment.locations)
    meter.source = home
    let report = try meter.report(for: [home])
    print("\(report.total.fileCount) files, \(report.total.apparent) bytes")
    let amounts = report.amounts(by: \.exclusion).map { exclusion, amount in
        "\(exclusion?.detail ?? exclusion?.name ?? "backed up"): \(amount.apparent) bytes"
    }
    for line in amounts.sorted() { print(line) }
    let metric = DiskSpaceMetric(report, capacity: nil)
    print("all data: \(metric.totalDataFileSize == report.total.apparent)")
}
