import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport

@testable import BackupEngines

/// A repository of archives with a source beside it.
struct Archives {
    let base: FilePath
    let repository: TarRepository

    var source: FilePath { base.appending("source") }
    var target: FilePath { base.appending("target") }
    var directory: FilePath { base.appending("repository") }

    /// Makes a plan of the source and stores it.
    ///
    /// - Parameter meanwhile: called between the two.
    @discardableResult
    func store(
        tags: [String] = [], report: @escaping @Sendable (BackupProgress) -> Void = { _ in },
        meanwhile: () throws -> Void = {}
    ) async throws -> StoredSnapshot {
        var planner = BackupPlanner(policy: StoragePolicy(), mounts: try MountTable.current())
        planner.makesManifest = true
        let plan = try planner.makePlan(for: [source])
        try meanwhile()
        return try await repository.store(
            StoreRequest(plan: plan, tags: tags, predecessor: nil, record: emptyRecord),
            report: report)
    }

    /// The repository's files with a part of a name.
    func files(_ part: String) throws -> [FilePath] {
        try names(in: directory).filter { String(decoding: $0, as: UTF8.self).contains(part) }
            .map { directory.pushing(FilePath(bytes: $0)) }
    }

    private func names(in directory: FilePath) throws -> [[UInt8]] {
        var names: [[UInt8]] = []
        try forEachName(in: directory) { name in
            names.append(name)
            return true
        }
        return names
    }
}

/// Calls `body` with a repository and a source that holds a tree, both in a new directory.
func withArchives(
    of tree: Tree, below parent: FilePath = "/var/tmp", _ body: (Archives) async throws -> Void
) async throws {
    let base = parent.appending("resval-archives-\(makeTestNumber())")
    try tool("mkdir", base)
    do {
        let location = RepositoryLocation(bytes: Array("tar:\(base)/repository".utf8))
        let archives = Archives(base: base, repository: try TarRepository(location))
        try Tree { Directory("source") }.create(in: base)
        try tree.create(in: archives.source)
        try await archives.repository.initialize()
        try await body(archives)
    } catch {
        try tool("rm", "-rf", base)
        throw error
    }
    try tool("rm", "-rf", base)
}

private func makeTestNumber() -> UInt64 { UInt64.random(in: .min ... .max) }

/// A record that tells nothing.
let emptyRecord = Array(
    """
    {"type":"format","format":"resval-record","version":1}
    {"type":"end","lines":2}

    """.utf8)
