import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

extension KeptFile {
    func write(to line: inout JSONLine) {
        line.add(path: path)
        line.add("owner", owner.map(Int64.init))
        line.add("size", size)
        line.add("modified", modified)
        line.add("permissions", permissions)
        line.add("content", content?.hexadecimal)
        line.add("dataBytes", dataBytes)
    }
}

/// Collects the evicted files of a snapshot from its record.
private struct KeptFiles: RecordHandler {
    private(set) var files: [KeptFile] = []

    mutating func receive(_ line: RecordLine) {
        if case .kept(let file) = line { files.append(file) }
    }
}

extension KeptFile {
    /// Parses the record of a kept snapshot; nil when it is damaged.
    static func files(inRecord record: [UInt8]) -> [KeptFile]? {
        var lines = Lines(SnapshotRecordReader(KeptFiles()), tooLong: .damagedRecord)
        do throws(BackupError) {
            try record.withUnsafeBytes { bytes in
                Result { () throws(BackupError) in try lines.receive(bytes) }
            }.get()
            try lines.finish()
            try lines.consumer.checkEnd()
            return lines.consumer.handler.files
        } catch {
            return nil
        }
    }
}

extension Restic {
    /// Returns the evicted files of a snapshot, in the order that eviction records number them.
    ///
    /// - Throws: ``BackupError``: `noRecord`, or `damaged` when the record cannot be parsed.
    package func keptFiles(of snapshot: Snapshot) async throws(BackupError) -> [KeptFile] {
        try await readRecord(of: snapshot, with: KeptFiles()).files
    }

    /// Returns the snapshots of evicted files, by the identifier that eviction records use.
    package func keptSnapshots() async throws(BackupError) -> [String: Snapshot] {
        let kept = try await snapshots().filter(\.isPinned)
        var found: [String: Snapshot] = [:]
        for snapshot in kept { found[String(snapshot.originalIdentifier.prefix(16))] = snapshot }
        // The current identifier takes precedence: unlike the original one, it cannot be forged.
        for snapshot in kept { found[String(snapshot.identifier.prefix(16))] = snapshot }
        return found
    }

    /// Returns the snapshot with the content of an evicted file; nil when this repository does not have
    /// it.
    ///
    /// A snapshot that has the identifier itself proves that the repository is the one in the record. That
    /// of an original is only what a copy claims, so there the repository's own identifier is read.
    ///
    /// - Parameter snapshots: what ``keptSnapshots()`` returned.
    func snapshot(
        of record: EvictionRecord, among snapshots: [String: Snapshot]
    ) async throws(BackupError) -> Snapshot? {
        guard let found = snapshots[record.snapshot] else { return nil }
        if found.identifier.hasPrefix(record.snapshot) { return found }
        return try await repositoryIdentifier().hasPrefix(record.repository) ? found : nil
    }

    /// Notes the location of the repository, so that downloads find it. A failure is ignored:
    /// downloads can then be given the location.
    func noteLocation(_ identifier: String, in directory: EvictionDirectory) {
        try? directory.note(
            repository: String(identifier.prefix(16)), at: repository.absoluteBytes)
    }
}
