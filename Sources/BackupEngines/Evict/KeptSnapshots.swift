import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The kept snapshots of a repository.
package struct KeptSnapshots: Sendable {
    private let engine: Restic
    /// By the identifiers that eviction records use.
    private let byIdentifier: [String: Snapshot]
    /// Those that a program wrote anew, and their files as far as they were read.
    private let rewritten: [Snapshot]
    private let files = Monitor<[Snapshot: [KeptFile]]>([:])

    package init(of engine: Restic) async throws(BackupError) {
        self.engine = engine
        let snapshots = try await engine.snapshots().filter(\.isPinned)
        var found: [String: Snapshot] = [:]
        for snapshot in snapshots {
            found[String(snapshot.originalIdentifier.prefix(16))] = snapshot
        }
        // The current identifier takes precedence: unlike the original one, it cannot be forged.
        for snapshot in snapshots { found[String(snapshot.identifier.prefix(16))] = snapshot }
        byIdentifier = found
        rewritten = snapshots.filter { $0.identifier != $0.originalIdentifier }
    }

    /// Returns the snapshot with the content of an evicted file; nil when this repository does not
    /// have it.
    ///
    /// A snapshot that has the identifier itself proves that the repository is the one in the record.
    /// That of an original is only what a copy claims, so there the repository's own identifier is
    /// read. A snapshot that was written anew more than once names its predecessor, so the records of
    /// such snapshots are read last. No other snapshot is taken for the one of the eviction: its record
    /// may describe another content of the same size and time.
    func snapshot(
        of record: EvictionRecord, owner: UInt32, size: Int64
    ) async throws(BackupError) -> Snapshot? {
        let found = byIdentifier[record.snapshot]
        if let found, found.identifier.hasPrefix(record.snapshot) { return found }
        guard found != nil || !rewritten.isEmpty,
            try await engine.repositoryIdentifier().hasPrefix(record.repository)
        else { return nil }
        if let found { return found }
        var contents: [ContentHash?: Snapshot] = [:]
        for snapshot in rewritten {
            let files = try await files(of: snapshot)
            guard files.indices.contains(record.item),
                files[record.item].isAbout(record, owner: owner, size: size)
            else { continue }
            contents[files[record.item].content] = snapshot
        }
        return contents.count == 1 ? contents.values.first : nil
    }

    private func files(of snapshot: Snapshot) async throws(BackupError) -> [KeptFile] {
        if let known = files.withLock({ $0[snapshot] }) { return known }
        var found: [KeptFile] = []
        do throws(BackupError) {
            found = try await engine.keptFiles(of: snapshot)
        } catch  where !error.code.mayConcernOneSnapshot {
            throw error
        } catch {
            // Without its record it shows nothing of its files.
        }
        let files = found
        self.files.withLock { $0[snapshot] = files }
        return files
    }
}

extension Restic {
    /// Returns the evicted files of a snapshot, in the order that eviction records number them.
    ///
    /// - Throws: ``BackupError``: `noRecord`, or `damaged` when the record cannot be parsed.
    package func keptFiles(of snapshot: Snapshot) async throws(BackupError) -> [KeptFile] {
        try await readRecord(of: snapshot, with: KeptFiles()).files
    }

    /// Notes the location of the repository, so that downloads find it. A failure is ignored:
    /// downloads can then be given the location.
    func noteLocation(_ identifier: String, in directory: EvictionDirectory) {
        try? directory.note(
            repository: String(identifier.prefix(16)), at: repository.absoluteBytes)
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
    func write(to line: inout JSONLine) {
        line.add(path: path)
        line.add("owner", owner.map(Int64.init))
        line.add("size", size)
        line.add("modified", modified)
        line.add("permissions", permissions)
        line.add("content", content?.hexadecimal)
        line.add("dataBytes", dataBytes)
    }

    /// Parses the record of a kept snapshot; nil when it is damaged.
    static func files(inRecord record: [UInt8]) -> [KeptFile]? {
        var lines = Lines(SnapshotRecordReader(KeptFiles()), tooLong: .damagedRecord)
        do throws(BackupError) {
            try lines.receive(record)
            try lines.finish()
            try lines.consumer.checkEnd()
            return lines.consumer.handler.files
        } catch {
            return nil
        }
    }
}
