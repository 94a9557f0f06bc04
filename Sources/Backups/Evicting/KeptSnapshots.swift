import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

extension Restic {
    /// Returns restic's identifier of the repository: at least 16 hexadecimal digits.
    ///
    /// - Throws: ``BackupError`` when the repository cannot be read; `unreachable` when one elsewhere does
    ///   not answer in time.
    package func repositoryIdentifier() async throws(BackupError) -> String {
        try checkExistence()
        if let known = identifier.withLock({ $0 }) { return known }
        let (output, end) = try await attemptOnce(
            ResticCommand("cat", words("--no-lock"), on: words("config")),
            within: repository.directory == nil ? limits.answer : nil, reading: WholeOutput())
        guard end.code == 0 else { throw failure(end) }
        var found = ""
        var scanner = JSONScanner(output.bytes[...])
        try parsing("cat config") { () throws(JSONError) in
            try scanner.forEachField { scanner, field throws(JSONError) in
                if field == "id" { found = try scanner.text() }
            }
        }
        identifier.withLock { [found] in $0 = found }
        return found
    }

    /// Makes a kept snapshot of only these files, reading their content again.
    ///
    /// - Parameters:
    ///   - files: absolute paths. Files that cannot be read are missing from the snapshot; the
    ///     caller finds out by reading them back.
    /// - Returns: the snapshot's full identifier.
    /// - Throws: ``BackupError`` when no snapshot was made.
    func keep(
        _ files: [FilePath], record: [UInt8]
    ) async throws(BackupError) -> String {
        try checkExistence()
        let record = try RecordFile(
            record, name: RecordPath.fileName(SnapshotTags.fingerprint(of: files)),
            in: recordDirectories)
        let list = try MemoryFile((files + [record.path]).flatMap { $0.bytes + [0] })
        // --force ignores parent snapshots, so that no file is considered unchanged by its size and
        // times.
        let command = ResticCommand(
            "backup",
            words("--json", "--force")
                + [
                    option("--host", hostName()), option("--tag", StateTag.kept),
                    option("--tag", RecordPath.tag(record.path)),
                    option("--files-from-raw", list.path),
                ])
        let (output, end) = try await attempt(
            command, reading: Lines(StatusMessages(progress)))
        // restic opens the list through this process's descriptor, and the record by its path.
        withExtendedLifetime((list, record)) {}
        // 3: some files could not be read, which is found when they are read back.
        guard end.code == 0 || end.code == 3 else { throw failure(end) }
        return try output.consumer.newSnapshot.snapshot
    }

    /// Passes a file's content to a consumer, or that of a directory as an archive: to a ``PaxStream``. A
    /// file that does not arrive whole in it may be damaged, absent, or behind one that is; reading that
    /// by itself tells why.
    ///
    /// - Parameters:
    ///   - file: its absolute path in the snapshot.
    ///   - snapshot: the snapshot's full identifier.
    ///   - isProof: whether nothing may come from restic's cache.
    /// - Throws: ``BackupError``, possibly after part of the content was passed; what the consumer
    ///   throws.
    func readContent<Consumer: OutputConsumer>(
        of file: FilePath, in snapshot: String, isProof: Bool = false, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        // Without --quiet restic prints a lock that it waits for among the content.
        var dump = ResticCommand(
            "dump", words("--quiet", "--archive=tar"), on: words(snapshot) + [file.bytes])
        if isProof { dump.options += words("--no-cache", "--no-lock") }
        return try await run(dump, reading: consumer)
    }
}

package struct KeptSnapshots: Sendable {
    private let engine: Restic
    /// By the identifiers that eviction records use.
    private let byIdentifier: [String: Snapshot]
    /// Those that a program wrote anew, and their files as far as they were read.
    private let rewritten: [Snapshot]
    private let files = Monitor<[Snapshot: [KeptFile]]>([:])

    package init(of engine: Restic) async throws(BackupError) {
        self.engine = engine
        let snapshots = try await engine.list().snapshots.filter(\.isPinned)
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
            found = try await engine.record(of: snapshot).kept
        } catch  where error.code.mayConcernOneSnapshot {
            // Without its record it shows nothing of its files.
        }
        files.withLock { [found] in $0[snapshot] = found }
        return found
    }
}

/// An evicted file as described in the record of the snapshot with its content: all facts that its
/// placeholder does not have, and those that prove which placeholder is the file's.
package struct KeptFile: Sendable, Hashable {
    /// The absolute path of the content in the snapshot.
    package var path: [UInt8] = []
    /// The user ID of the owner; nil in a record that lacks it, which fits no placeholder.
    package var owner: UInt32?
    package var size: Int64 = 0
    package var modified = FileTime(seconds: 0, nanoseconds: 0)
    package var permissions: UInt16 = 0
    /// The hash of the content; a record that lacks it is damaged.
    package var content: ContentHash?
    /// The number of bytes of the content that are not holes; nil if unknown.
    package var dataBytes: Int64?

    package init() {}

    package init(_ file: EvictableFile, _ content: ContentHash, dataBytes: Int64) {
        path = file.path.bytes
        owner = file.status.owner
        size = file.status.size
        modified = file.status.contentModificationTime
        permissions = file.status.permissions
        self.content = content
        self.dataBytes = dataBytes
    }

    /// Whether the record on a file with this owner and size is about this content.
    ///
    /// A record is only what the owner of a file wrote on it. So that it gives no one the content of
    /// others, it counts only where all that the snapshot says of the file agrees.
    package func isAbout(_ record: EvictionRecord, owner: UInt32, size: Int64) -> Bool {
        self.owner == owner && self.size == size && permissions == record.permissions
            && modified == record.modified
    }
}

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
        plan.noteMissing(in: repository, kept.contains)
    }
}
