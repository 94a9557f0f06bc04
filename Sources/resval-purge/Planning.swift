import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage

/// Makes plans for the commands `plan` and `run`.
struct Planning {
    let search: SearchOptions
    let target: TargetOptions
    let progress: ProgressOptions

    /// A plan, with the results of the search for it.
    struct Result {
        let plan: PurgePlan
        let totals: PurgeTotals
        let kept: KeptItems
        let search: UnitSearch

        /// How many bytes less than wanted the plan frees; 0 when it frees enough.
        var missingBytes: Int64 { max(0, plan.wantedBytes - plan.bytes) }
    }

    /// Makes a plan, and records how much may be deleted on the volume.
    ///
    /// - Parameter kept: receives the kept items.
    func makePlan(_ roots: [PathArgument], _ kept: KeptItems) throws -> Result {
        let environment = try PurgeEnvironment(search)
        var realRoots: [FilePath] = []
        for root in roots { realRoots.append(try NamedItem(at: root.path).path) }
        let volume = try environment.volume(realRoots)
        let space = try StorageSpace(at: volume)
        guard let bytes = space.bytes else {
            throw FileError(
                code: .unsupportedFilesystem, message: "its filesystem does not count its space",
                path: volume)
        }
        let display = progress.begin(counting: "items examined")
        defer { display.end() }
        let search = environment.search(
            realRoots, StorageThresholds().pressure(of: space), display)
        let wanted = target.wantedBytes(of: bytes)
        let now = FileTime.now
        let found: FoundUnits
        do {
            found = try search.units(freeing: wanted, on: volume, now: now) { path, reason in
                kept.note(path, reason)
            }
        } catch is CancellationError {
            // The signal ends the program.
            throw ExitCode(2)
        }
        kept.finish()
        let plan = try PurgePlan(
            freeing: wanted, on: volume, roots: realRoots, units: found.units, created: now)
        record(found.totals.bytes, plan)
        return Result(plan: plan, totals: found.totals, kept: kept, search: search)
    }
}

/// Records how many bytes may still be deleted on a plan's volume, which programs count as
/// available when they ask how much they can store there. A failure is only a warning, since
/// nothing else depends on it.
func record(_ bytes: Int64, _ plan: PurgePlan) {
    guard let records = PurgeRecords.current else { return }
    do throws(FileError) {
        try records.write(
            PurgeRecord(
                created: plan.created, device: plan.device, bootID: plan.bootID, bytes: bytes))
    } catch {
        Messages.warn(about: error.path?.bytes, error.description)
    }
}
