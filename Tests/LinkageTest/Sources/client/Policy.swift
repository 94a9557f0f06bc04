import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage

/// Asks the policy about marks that are on no disk.
func answerQuestions(about path: FilePath) {
    let policy = StoragePolicy()
    let directory = policy.decide(
        Marks(isExcludedFromBackup: true), kind: .directory, in: .empty, name: [],
        path: path.removingLastComponent(), linkCount: nil, isMountRoot: false)
    let file = policy.decide(
        Marks(isPurgeable: true), kind: .regularFile, in: directory.contextForEntries,
        name: [], path: path, linkCount: 1, isMountRoot: false)
    print("excluded: \(file.isExcluded), because \(file.exclusion.name)")
    print("purgeable: \(file.isPurgeable), because \(file.purgeability.name)")
}

/// Prints what applies to an item on the disk, from the marks on it and on every directory above.
func explain(_ path: FilePath) throws {
    let environment = PolicyEnvironment.current()
    let policy = StoragePolicy(locations: environment.locations)
    let item = try EffectiveValueReader(policy, source: environment.base.home).item(at: path)
    print("\(item.path): \(item.status.size) bytes, \(item.decision.exclusion.name)")
    let filesystem = environment.mounts.mount(holding: item.path)
    print("on a mounted filesystem: \(filesystem?.category != nil)")
}
