import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// What the record of a snapshot for evicted files tells of one of them: all that its placeholder does
/// not.
package struct KeptFile: Sendable, Hashable {
    /// The absolute path that the content has in the snapshot.
    package var path: [UInt8] = []
    /// The size in bytes.
    package var size: Int64 = 0
    /// When the content last changed.
    package var modified = FileTime(seconds: 0, nanoseconds: 0)
    /// The permission bits.
    package var permissions: UInt16 = 0
    /// The hash of the content; nil in snapshots without a record.
    package var content: ContentHash?
    /// How many bytes of the content are no holes; nil where nobody knows.
    package var dataBytes: Int64?

    package init() {}

    init(_ candidate: EvictionCandidate, _ content: ContentHash, dataBytes: Int64) {
        path = candidate.path.bytes
        size = candidate.status.size
        modified = candidate.status.contentModificationTime
        permissions = candidate.status.permissions
        self.content = content
        self.dataBytes = dataBytes
    }

    func write(to line: inout JSONLine) {
        line.add(path: path)
        line.add("size", size)
        line.add("modified", modified)
        line.add("permissions", permissions)
        line.add("content", content?.hexadecimal)
        line.add("dataBytes", dataBytes)
    }
}

/// Takes what the record of a snapshot tells of evicted files.
private struct KeptFiles: RecordHandler, SnapshotEntryHandler {
    private(set) var files: [KeptFile] = []

    mutating func receive(_ line: RecordLine) {
        if case .kept(let file) = line { files.append(file) }
    }

    mutating func receive(_ entry: SnapshotEntry) {
        guard entry.kind == .regularFile else { return }
        var file = KeptFile()
        file.path = entry.path
        file.size = entry.size
        file.modified = entry.modified
        file.permissions = entry.permissions
        files.append(file)
    }
}

extension ContentHolding {
    /// What a snapshot for evicted files tells of them, in the order of their numbers. Snapshots of versions that
    /// wrote no record have their files in the order of ``readEntries(of:with:)``.
    ///
    /// - Throws: ``BackupError``: `damaged` when a record makes no sense.
    package func keptFiles(of snapshot: Snapshot) async throws(BackupError) -> [KeptFile] {
        do throws(BackupError) {
            return try await readRecord(of: snapshot, with: KeptFiles()).files
        } catch  where error.code == .noRecord {
            return try await readEntries(of: snapshot.identifier, with: KeptFiles()).files
        }
    }

    /// The snapshots for evicted files, by the identifier that records have.
    package func keptSnapshots() async throws(BackupError) -> [String: Snapshot] {
        let kept = try await snapshots().filter(\.isHeld)
        var found: [String: Snapshot] = [:]
        for snapshot in kept { found[String(snapshot.originalIdentifier.prefix(16))] = snapshot }
        // What an identifier itself leads to cannot be forged.
        for snapshot in kept { found[String(snapshot.identifier.prefix(16))] = snapshot }
        return found
    }

    /// Writes the records of placeholders that older versions made.
    ///
    /// - Parameter files: what the journal knows of each, and where it is.
    /// - Returns: why others got none.
    /// - Throws: ``BackupError`` when the repository or a snapshot cannot be read.
    package func takeOver(
        _ files: [(known: EvictedFile, path: FilePath)], in journal: Journal
    ) async throws(BackupError) -> [(path: FilePath, reason: String)] {
        let identifier = try await repositoryIdentifier()
        var refused: [(path: FilePath, reason: String)] = []
        let bySnapshot = Dictionary(grouping: files) { $0.known.holdTag }
        for (tag, files) in bySnapshot {
            let snapshot = try await snapshot(.identifier(try await heldSnapshot(tag: tag)))
            var numbers: [[UInt8]: Int] = [:]
            for (number, file) in try await keptFiles(of: snapshot).enumerated() {
                numbers[file.path] = number
            }
            for (known, path) in files {
                guard let number = numbers[known.path.bytes],
                    let name = EvictionRecord(
                        repository: identifier, snapshot: snapshot.originalIdentifier, item: number)
                else {
                    refused.append((path, "snapshot \(snapshot.shortIdentifier) does not hold it"))
                    continue
                }
                do throws(EvictionError) {
                    try journal.takeOver(known, at: path, as: name)
                } catch {
                    refused.append((path, error.sentence))
                }
            }
        }
        noteLocation(identifier, in: journal)
        return refused
    }

    /// Notes where the repository is, so that downloads find it; where that cannot be noted they are told.
    func noteLocation(_ identifier: String, in journal: Journal) {
        try? journal.note(
            repository: String(identifier.prefix(16)), at: repository.absoluteBytes)
    }
}
