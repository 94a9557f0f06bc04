import EffectiveValues
import SystemCalls

/// What one snapshot contains of an item.
package struct Occurrence: Sendable, Hashable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// The number of its items that are the item itself or below it, without directories.
    package fileprivate(set) var items = 0
    /// The sizes of the files among them, in bytes.
    package fileprivate(set) var bytes: Int64 = 0
}

/// The snapshots that contain an item.
package struct Occurrences: Sendable {
    /// Those that contain it, the oldest first.
    package fileprivate(set) var found: [Occurrence] = []
    /// Those that cannot be read and may contain it.
    package fileprivate(set) var unreadable: [UnreadableSnapshot] = []
}

extension Restic {
    /// Finds the snapshots of this machine that contain an item. The empty directory that stands for
    /// an excluded one, and the tag file in it, do not count.
    ///
    /// - Parameter path: the absolute path as it was backed up.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    package func occurrences(of path: [UInt8]) async throws(BackupError) -> Occurrences {
        let own = try await ownSnapshots()
        var result = Occurrences()
        result.unreadable = own.unreadable
        let progress = StepCounter(.snapshotsChecked, of: Int64(own.snapshots.count), progress)
        for snapshot in own.snapshots {
            defer { progress.add(files: 1) }
            do throws(BackupError) {
                let counter = try await readEntries(
                    of: snapshot.identifier, below: path, with: OccurrenceCounter(path, snapshot))
                if counter.occurrence.items > 0 { result.found.append(counter.occurrence) }
            } catch  where error.code.mayConcernOneSnapshot {
                result.unreadable.append(
                    UnreadableSnapshot(identifier: snapshot.identifier, problem: error.message))
            }
        }
        return result
    }
}

private struct OccurrenceCounter: SnapshotEntryHandler {
    private(set) var occurrence: Occurrence
    private let path: [UInt8]
    private let tagFile: [UInt8]

    init(_ path: [UInt8], _ snapshot: Snapshot) {
        occurrence = Occurrence(snapshot: snapshot)
        self.path = path
        tagFile = path + [UInt8(ascii: "/")] + TagFile.cacheDirectory.name.bytes
    }

    mutating func receive(_ entry: SnapshotEntry) {
        guard entry.kind != .directory, entry.path != tagFile else { return }
        occurrence.items += 1
        occurrence.bytes.addSaturating(entry.size)
    }
}
