import EffectiveValues
import FileTree
import PurgePlanning
import SystemPackage

/// A purger: deletes what is in a directory for caches, as a rehearsal first.
func purge(_ directory: FilePath) throws {
    var search = UnitSearch(.current())
    search.roots = [directory]
    search.minimumAge = 0
    search.smallest = 0
    let plan = try search.makePlan(freeing: .max, on: directory) { path, reason in
        print("keep \(FilePath(bytes: path)): \(reason.name)")
    }
    var executor = PurgeExecutor(search)
    for mode in [PurgeExecutor.Mode.rehearse, .delete] {
        executor.mode = mode
        let outcome = try executor.execute(plan) { event in
            switch event {
            case .removed(let unit, _):
                print("\(mode): \(FilePath(bytes: unit.path)), \(unit.purgeClass.name)")
            case .kept(let unit, let reason): print("kept \(unit.path): \(reason.sentence)")
            case .failed(let unit, let error): print("failed \(unit.path): \(error)")
            case .leftover(let path, let state): print("\(state.name) \(path)")
            }
        }
        print("\(mode): units: \(outcome.removedUnits), failures: \(outcome.failures)")
    }
}
