import BackupPlanning
import EffectiveValues
import StoragePolicy
import SystemPackage

/// A backup tool: lists exactly what to store of a directory, and what not, and why.
func listBackup(of source: FilePath) throws {
    let environment = PolicyEnvironment.current()
    let planner = BackupPlanner(
        policy: StoragePolicy(locations: environment.locations), mounts: environment.mounts)
    let planned = try planner.makeList(for: [source], relativeTo: source)
    var list: [UInt8] = []
    planned.forEachPiece { list += $0 }
    for path in list.split(separator: 0) { print("store \(String(decoding: path, as: UTF8.self))") }
    let plan = planned.plan
    for item in plan.exclusions { print("exclude \(item.path): \(item.reason.name)") }
    for notice in plan.notices { print("notice \(notice.path): \(notice.sentence)") }
    print("\(plan.totals.storedItems) items, \(plan.totals.storedBytes) bytes")
    print("the list says all of it: \(!plan.isIncomplete)")
}
