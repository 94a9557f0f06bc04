import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The newest snapshot that has an item.
package struct NewestVersion: Sendable {
    /// The absolute path as it was backed up.
    package let path: [UInt8]
    /// The snapshot; nil if none has the item.
    package fileprivate(set) var snapshot: Snapshot?
    /// The newer ones, which lack it, the newest first, and the reason, in words, for which each excluded
    /// it; nil where it was not there.
    package fileprivate(set) var lacking: [(snapshot: Snapshot, exclusion: String?)] = []
}

extension SnapshotList {
    /// The names of the machines that snapshots were made on, sorted.
    package var hosts: [String] { Set(snapshots.map(\.hostName)).sorted() }
}

extension Restic {
    /// Finds the newest snapshot that has each of some items: it stores them, and not only the empty
    /// directory that stands for an excluded one, or another snapshot keeps their content.
    ///
    /// - Parameters:
    ///   - paths: the absolute paths as they were backed up.
    ///   - snapshots: the snapshots to look in, the oldest first.
    /// - Throws: ``BackupError``; also where a snapshot that may be the newest to have one cannot be
    ///   read.
    package func newestVersions(
        of paths: [[UInt8]], in snapshots: [Snapshot]
    ) async throws(BackupError) -> [NewestVersion] {
        var versions = paths.map { NewestVersion(path: $0) }
        let progress = StepCounter("snapshots checked", of: Int64(snapshots.count), progress)
        for snapshot in snapshots.reversed() {
            let missing = versions.indices.filter { versions[$0].snapshot == nil }
            if missing.isEmpty { break }
            do throws(BackupError) {
                let exclusions = try await exclusions(of: snapshot)
                let excluded = ExcludedPaths(exclusions)
                let evicted = Set(exclusions.filter(\.isEvicted).map(\.path))
                let left = missing.map { versions[$0].path }.filter {
                    excluded.reason(of: $0) == nil
                }
                let common = commonNames(of: left).flatMap { [UInt8(ascii: "/")] + $0 }
                var present: Set<[UInt8]> = []
                if !left.isEmpty {
                    present = try await readEntries(
                        of: snapshot.identifier, below: common.isEmpty ? nil : common,
                        with: PresentPaths(Set(left))
                    ).present
                }
                for index in missing {
                    let path = versions[index].path
                    if present.contains(path) || evicted.contains(path) {
                        versions[index].snapshot = snapshot
                    } else {
                        versions[index].lacking.append((snapshot, excluded.reason(of: path)))
                    }
                }
            } catch {
                guard error.code.mayConcernOneSnapshot else { throw error }
                throw BackupError(
                    .damaged,
                    "snapshot \(snapshot.shortIdentifier) may have the newest version, and cannot be "
                        + "read: \(error.message)",
                    advice: "name an older one with --snapshot, and check the repository: "
                        + "resval-backup verify")
            }
            progress.add(files: 1)
        }
        return versions
    }
}

/// Finds which paths a snapshot has.
private struct PresentPaths: SnapshotEntryHandler {
    private(set) var present: Set<[UInt8]> = []
    private let wanted: Set<[UInt8]>

    init(_ wanted: Set<[UInt8]>) { self.wanted = wanted }

    mutating func receive(_ entry: SnapshotEntry) {
        if wanted.contains(entry.path) { present.insert(entry.path) }
    }
}
