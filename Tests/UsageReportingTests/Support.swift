import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport
import Testing
import UsageReporting

/// Measures with the locations of a home; nil for none.
func measure(
    _ roots: FilePath..., home: FilePath? = nil, threads: Int = 2,
    markers: Set<Marker> = Marker.defaultSet, _ change: (inout UsageMeter) -> Void = { _ in }
) throws -> UsageReport {
    try measure(roots, home: home, threads: threads, markers: markers, change)
}

/// Measures with the locations of a home; nil for none.
func measure(
    _ roots: [FilePath], home: FilePath? = nil, threads: Int = 2,
    markers: Set<Marker> = Marker.defaultSet, _ change: (inout UsageMeter) -> Void = { _ in }
) throws -> UsageReport {
    let environment = PolicyEnvironment(
        environment: ["HOME": home ?? "/nonexistent"], passwordDatabase: "/dev/null", user: 0)
    let locations = home.map { _ in environment.locations }
    var planner = BackupPlanner(
        policy: StoragePolicy(markers: markers, locations: locations), mounts: environment.mounts)
    planner.threadCount = threads
    var meter = UsageMeter(planner, locations: locations)
    // The home of a test lies in a directory for temporary files.
    meter.source = home
    change(&meter)
    return try meter.report(for: roots)
}

/// What `du` counts, in bytes.
func diskUsage(_ roots: FilePath..., options: [String] = []) throws -> Int64 {
    let arguments: [any CommandArgument] = ["-B1", "-s", "-c"] + options + ["--"] + roots
    let last = try tool("du", arguments: arguments).split(separator: "\n").last ?? ""
    return try #require(Int64(last.prefix { $0 != "\t" }))
}
