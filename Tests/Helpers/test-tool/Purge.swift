import EffectiveValues
import Glibc
import PurgePlanning
import SystemCalls
import SystemPackage

/// `purge HOME STATE [CALL]`
///
/// Plans to delete everything in HOME that may go, whatever its age, and executes the plan with its
/// records in STATE. Prints what became of each unit. With CALL above 0 the process kills itself before
/// its call of that number that changes something.
func runPurge(_ arguments: [String]) {
    let changes: Set<SystemCall> = [.renameat2, .unlinkat, .pwrite, .fsync, .mkdirat, .syncfs]
    do {
        let last = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
        try dying(before: last, { changes.contains($0) }) {
            try purge(FilePath(arguments[0]), state: FilePath(arguments[1]))
        }
    } catch {
        print(error)
        exit(2)
    }
}

private func purge(_ home: FilePath, state: FilePath) throws {
    let settings = PolicyEnvironment(
        environment: ["HOME": home], passwordDatabase: "/dev/null", user: effectiveUser())
    var search = UnitSearch(settings)
    search.roots = [home]
    search.minimumAge = 0
    search.smallest = 0
    let now = FileTime(seconds: 4_000_000_000, nanoseconds: 0)
    let found = try search.units(freeing: .max, on: home, now: now)
    let plan = try PurgePlan(freeing: .max, on: home, units: found.units, created: now)
    var executor = PurgeExecutor(search)
    executor.stateDirectory = state
    executor.measureRepeats = 0
    // All directories are deleted together, however slow the machine is.
    executor.batchDuration = .seconds(600)
    _ = try executor.execute(plan, now: now) { event in
        switch event {
        case .removed(let unit, _): print("removed \(FilePath(bytes: unit.path))")
        case .kept(let unit, let reason): print("kept \(FilePath(bytes: unit.path)) \(reason.name)")
        case .failed(let unit, let error): print("failed \(FilePath(bytes: unit.path)) \(error)")
        case .leftover(let path, let state): print("\(state.name) \(FilePath(bytes: path))")
        }
    }
}
