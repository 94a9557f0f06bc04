// purge-tool HOME STATE [CALL]
//
// Plans to delete everything in HOME that may go, whatever its age, and carries that out with its
// records in STATE. Prints what became of each unit. With CALL above 0 the process kills itself, as
// SIGKILL from outside would, before its call of that number that changes something.

import EffectiveValues
import Glibc
import PurgePlanning
import SystemCalls
import SystemPackage

private let arguments = CommandLine.arguments
private let home = FilePath(arguments[1])

private func work() throws {
    let settings = PolicyEnvironment(
        environment: ["HOME": home], passwordDatabase: "/dev/null", user: effectiveUser())
    var search = UnitSearch(settings)
    search.roots = [home]
    search.minimumAge = 0
    let now = FileTime(seconds: 4_000_000_000, nanoseconds: 0)
    let found = try search.units(freeing: .max, on: home, now: now)
    let text = try contentsOfFile("/proc/sys/kernel/random/boot_id")
    let plan = PurgePlan(
        created: now, bootID: String(decoding: text.dropLast(), as: UTF8.self),
        device: try home.status().identity.device, wantedBytes: .max, units: found.units)
    var executor = PurgeExecutor(search)
    executor.stateDirectory = FilePath(arguments[2])
    executor.measureRepeats = 0
    _ = try executor.carryOut(plan, now: now) { event in
        switch event {
        case .removed(let unit, _): print("removed \(FilePath(bytes: unit.path))")
        case .kept(let unit, let reason): print("kept \(FilePath(bytes: unit.path)) \(reason.name)")
        case .failed(let unit, let error): print("failed \(FilePath(bytes: unit.path)) \(error)")
        case .leftover(let path, let state): print("\(state.name) \(FilePath(bytes: path))")
        }
    }
}

do {
    guard arguments.count > 3, let last = Int(arguments[3]), last > 0 else {
        try work()
        exit(0)
    }
    let mock = SystemCallMock([:])
    var count = 0
    let changes: Set<SystemCall> = [.renameat2, .unlinkat, .pwrite, .fsync, .mkdirat, .syncfs]
    mock.beforeCall = { call in
        guard changes.contains(call) else { return }
        count += 1
        if count == last { kill(getpid(), SIGKILL) }
    }
    try mock.run { try work() }
} catch {
    print(error)
    exit(2)
}
