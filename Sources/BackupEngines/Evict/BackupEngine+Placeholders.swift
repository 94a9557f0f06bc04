import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemPackage

extension BackupEngine {
    /// Notes which placeholders of a plan this repository does not keep: those whose record names another
    /// one, or a snapshot that is not there.
    ///
    /// - Throws: ``BackupError`` when the repository cannot be read; it is asked only where there are
    ///   placeholders.
    package func noteMissing(in plan: inout BackupPlan) async throws(BackupError) {
        guard !plan.placeholders.isEmpty else { return }
        guard let holder = self as? any ContentHolding else {
            return plan.noteMissing { _ in false }
        }
        let repository = String(try await holder.repositoryIdentifier().prefix(16))
        let snapshots = try await holder.keptSnapshots()
        plan.noteMissing { $0.repository == repository && snapshots[$0.snapshot] != nil }
    }

    /// The snapshots that are the last to hold the content of files that are evicted into another
    /// repository, as the records of all tell.
    ///
    /// Size and time tell no file from another for certain: of every path with those of a missing one the
    /// last is meant.
    ///
    /// - Parameter snapshots: this machine's, of every set of SOURCEs: files move between them.
    /// - Throws: ``BackupError`` when a record or a snapshot cannot be read.
    func lastHolders(ofEvictedIn snapshots: [Snapshot]) async throws(BackupError) -> Set<Snapshot> {
        var wanted: Set<ContentFacts> = []
        for snapshot in snapshots where snapshot.allTags.contains(StateTag.missesEvicted) {
            let missing = try await unlessDamaged { () async throws(BackupError) in
                try await readRecord(of: snapshot, with: MissingContent())
            }
            wanted.formUnion(missing?.found ?? [])
        }
        guard !wanted.isEmpty else { return [] }
        var holders: Set<Snapshot> = []
        var seen: Set<HeldFile> = []
        for snapshot in snapshots.sorted(by: { $1.isOlder(than: $0) }) {
            let held = try await unlessDamaged { [wanted] () async throws(BackupError) in
                try await readEntries(of: snapshot.identifier, with: HeldFiles(wanted))
            }
            guard let held, !held.found.isSubset(of: seen) else { continue }
            holders.insert(snapshot)
            seen.formUnion(held.found)
        }
        return holders
    }

    /// What a snapshot tells; nil for a damaged one, beside which others hold and tell the same. The newest
    /// of a set is not passed over: nothing is forgotten while its record cannot be read.
    private func unlessDamaged<Result: Sendable>(
        _ read: () async throws(BackupError) -> Result
    ) async throws(BackupError) -> Result? {
        do throws(BackupError) {
            return try await read()
        } catch  where error.code == .damaged || error.code == .noRecord {
            return nil
        }
    }
}

/// What a file's content is known by in snapshots, wherever the file was moved.
struct ContentFacts: Hashable, Sendable {
    let size: Int64
    let modified: FileTime
}

/// Takes what a record tells of files that are evicted into another repository.
private struct MissingContent: RecordHandler {
    private(set) var found: Set<ContentFacts> = []

    mutating func receive(_ line: RecordLine) {
        guard case .missing(let size, let modified) = line else { return }
        found.insert(ContentFacts(size: size, modified: modified))
    }
}

/// A file of a snapshot.
struct HeldFile: Hashable, Sendable {
    let path: [UInt8]
    let facts: ContentFacts
    /// Whether it has permission bits: a file without any may itself be a placeholder.
    let hasPermissions: Bool
}

/// Takes the files of a snapshot that may have wanted content.
struct HeldFiles: SnapshotEntryHandler {
    private(set) var found: Set<HeldFile> = []
    private let wanted: Set<ContentFacts>

    init(_ wanted: Set<ContentFacts>) { self.wanted = wanted }

    mutating func receive(_ entry: SnapshotEntry) {
        let facts = ContentFacts(size: entry.size, modified: entry.modified)
        guard entry.kind == .regularFile, wanted.contains(facts) else { return }
        found.insert(
            HeldFile(
                path: entry.path, facts: facts, hasPermissions: entry.permissions & 0o777 != 0))
    }
}
