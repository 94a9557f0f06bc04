import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemPackage

extension Restic {
    /// Notes which placeholders of a plan this repository has no content for: those whose record
    /// names another repository, or a snapshot that does not exist.
    ///
    /// - Throws: ``BackupError`` when the repository cannot be read. It is read only if the plan
    ///   has placeholders.
    package func noteMissing(in plan: inout BackupPlan) async throws(BackupError) {
        guard !plan.placeholders.isEmpty else { return }
        let repository = String(try await repositoryIdentifier().prefix(16))
        let snapshots = try await KeptSnapshots(of: self)
        var kept: Set<EvictionRecord> = []
        for placeholder in plan.placeholders
        where placeholder.owner == effectiveUser() && placeholder.record.repository == repository {
            let snapshot = try await snapshots.snapshot(
                of: placeholder.record, owner: placeholder.owner, size: placeholder.size)
            if snapshot != nil { kept.insert(placeholder.record) }
        }
        plan.noteMissing(kept.contains)
    }

    /// Returns the snapshots that have the last copy of the content of files evicted into another
    /// repository, according to the records of all given snapshots.
    ///
    /// Files are matched by size and modification time, which are not unique: for every path with
    /// those of a missing file, the newest snapshot that has it is returned. A snapshot that cannot
    /// be read may have it.
    ///
    /// - Parameter snapshots: of all SETs, since files move between them, the oldest first.
    /// - Throws: ``BackupError`` when a record or a snapshot cannot be read.
    func lastHolders(ofEvictedIn snapshots: [Snapshot]) async throws(BackupError) -> Set<Snapshot> {
        var wanted: Set<ContentFacts> = []
        var withoutContent: [Snapshot: Set<[UInt8]>] = [:]
        for snapshot in snapshots where snapshot.allTags.contains(StateTag.missesEvicted) {
            do throws(BackupError) {
                let missing = try await readRecord(of: snapshot, with: MissingContent())
                wanted.formUnion(missing.found)
                withoutContent[snapshot] = missing.paths
            } catch  where error.code == .noRecord {
                // Made by another program, or by a version that wrote no record.
            }
        }
        guard !wanted.isEmpty else { return [] }
        var holders: Set<Snapshot> = []
        var seen: Set<StoredFile> = []
        for snapshot in snapshots.reversed() {
            let found: Set<StoredFile>
            do throws(BackupError) {
                let paths = withoutContent[snapshot] ?? []
                found = try await readEntries(
                    of: snapshot.identifier, with: StoredFiles(wanted)
                ).found.filter { !paths.contains($0.path) }
            } catch  where error.code == .damaged {
                holders.insert(snapshot)
                continue
            }
            guard !found.isSubset(of: seen) else { continue }
            holders.insert(snapshot)
            seen.formUnion(found)
        }
        return holders
    }

}

/// What identifies a file's content in snapshots, even after the file was moved.
struct ContentFacts: Hashable, Sendable {
    let size: Int64
    /// The modification time; nil for any time.
    let modified: FileTime?
}

/// Collects the files whose content, according to a record, is not in the snapshot.
private struct MissingContent: RecordHandler {
    private(set) var found: Set<ContentFacts> = []
    private(set) var paths: Set<[UInt8]> = []

    mutating func receive(_ line: RecordLine) {
        guard case .missing(let path, let size, let modified) = line else { return }
        found.insert(ContentFacts(size: size, modified: modified))
        paths.insert(path)
    }
}

/// A file of a snapshot.
struct StoredFile: Hashable, Sendable {
    let path: [UInt8]
    let facts: ContentFacts
    /// Whether it has permission bits: a file without any may itself be a placeholder.
    let hasPermissions: Bool
}

/// Collects the files of a snapshot that may have the wanted content.
struct StoredFiles: SnapshotEntryHandler {
    private(set) var found: Set<StoredFile> = []
    private let wanted: Set<ContentFacts>

    init(_ wanted: Set<ContentFacts>) { self.wanted = wanted }

    mutating func receive(_ entry: SnapshotEntry) {
        let facts = ContentFacts(size: entry.size, modified: entry.modified)
        guard entry.kind == .regularFile,
            wanted.contains(facts)
                || wanted.contains(ContentFacts(size: entry.size, modified: nil))
        else { return }
        found.insert(
            StoredFile(
                path: entry.path, facts: facts, hasPermissions: entry.permissions & 0o777 != 0))
    }
}
