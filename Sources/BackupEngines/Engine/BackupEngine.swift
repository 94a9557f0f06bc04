import BackupPlanning
import SystemCalls
import SystemPackage

/// A program, or a file format, that stores snapshots in a repository.
///
/// An engine defines how data is stored, found, read, restored and removed. What is the same for
/// all engines is in extensions of this protocol: which snapshot is meant, what a snapshot is
/// compared with, what its record contains, what retention keeps, what the exit codes are.
package protocol BackupEngine: Sendable {
    /// The location of the repository.
    var repository: RepositoryLocation { get }

    /// The longest path, in bytes, that the engine can store; nil when it has no limit.
    var longestPath: Int? { get }

    /// Whether the engine alters the target of a symbolic link that is not UTF-8 when it stores it.
    var repairsLinkTargets: Bool { get }

    /// Whether the engine alters the name of an extended attribute that is not UTF-8 when it stores
    /// it.
    var repairsAttributeNames: Bool { get }

    /// Whether anyone who can read the repository can read what is stored in it.
    var storesPlaintext: Bool { get }

    /// The callback for warnings that do not stop the work: a sentence about the repository or a
    /// snapshot.
    var warn: @Sendable (String) -> Void { get }

    /// The callback for the progress of checking, listing, pruning and restoring: called a few times
    /// a second, or as often as something is done.
    var progress: @Sendable (BackupProgress) -> Void { get }

    /// Creates a repository.
    ///
    /// - Throws: ``BackupError``: `repositoryExists`, `targetNotEmpty` for a directory with other
    ///   files in it and, as for every call, `unreachable`, `notWritable`, `noSpace`, `other`.
    func initialize() async throws(BackupError)

    /// Makes the repository ready for writing after a process of this engine was killed: removes
    /// what that process left behind, when it is certain that no process uses it. Does nothing when
    /// the repository is not writable.
    ///
    /// - Throws: ``BackupError``.
    func recover() async throws(BackupError)

    /// Returns the snapshots that match, and those that cannot be read, which are reported too.
    ///
    /// - Throws: ``BackupError``: `noRepository`, `wrongPassword`, `damaged`; `locked` when another
    ///   process has an exclusive lock on the repository, and reading needs one.
    func list(_ filter: SnapshotFilter) async throws(BackupError) -> SnapshotList

    /// Stores the items of a plan as a new snapshot, with its record and tags.
    ///
    /// A snapshot appears whole or not at all, even when this process is killed.
    ///
    /// - Parameter report: called a few times a second while files are read.
    /// - Throws: ``BackupError`` when no snapshot was made; the errors of walking the sources.
    ///   Failures of single items are in the result.
    func store(
        _ request: StoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> StoredSnapshot

    /// Returns the files whose content in a snapshot may mix two states, because they changed while
    /// they were read, and not after that.
    ///
    /// - Parameters:
    ///   - changed: the files that differ on disk, as the snapshot has them.
    ///   - identifier: the snapshot's identifier, or its first digits.
    /// - Throws: ``BackupError``.
    func torn(
        among changed: [SnapshotEntry], of identifier: String
    ) async throws(BackupError) -> [SnapshotEntry]

    /// Returns a file that exists as long as a snapshot does; nil when the repository is not a
    /// directory of this machine.
    ///
    /// - Parameter identifier: the snapshot's full identifier.
    func file(ofSnapshot identifier: String) -> FilePath?

    /// Prepares what reading takes, as soon as it is known that something will be read.
    func prepareReading() async

    /// Passes every entry of a snapshot to a handler, in bounded memory and in the order of
    /// ``pathPrecedes(_:_:)``: a directory, then its entries by the bytes of their names, each with
    /// everything below it.
    ///
    /// - Parameters:
    ///   - identifier: the snapshot's identifier, or enough of its first digits to be unique.
    ///   - path: the path to which the reading is limited, with everything below it; nil for no
    ///     limit.
    /// - Throws: ``BackupError``; also the handler's error, which ends the reading.
    func readEntries<Handler: SnapshotEntryHandler>(
        of identifier: String, below path: [UInt8]?, with handler: Handler
    ) async throws(BackupError) -> Handler

    /// Passes the bytes of a snapshot's record to a consumer.
    ///
    /// - Throws: ``BackupError`` with the code `noRecord` when the snapshot has none; also the
    ///   consumer's error.
    func readRecordBytes<Consumer: OutputConsumer>(
        of snapshot: Snapshot, with consumer: Consumer
    ) async throws(BackupError) -> Consumer

    /// Restores items of a snapshot below a directory, each with its whole path, and with extended
    /// attributes, hard links, holes, permissions and times.
    ///
    /// - Parameter report: called as ``progress`` is.
    /// - Throws: ``BackupError`` when the restore as a whole failed. Failures of single items are
    ///   in the result.
    func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreResult

    /// Checks the repository's own files.
    ///
    /// - Parameter readsData: whether every stored byte is read and compared with its hash;
    ///   otherwise only the structure is checked.
    /// - Throws: ``BackupError`` when the check could not be made. Damage is in the result.
    func check(readsData: Bool) async throws(BackupError) -> RepositoryCheck

    /// Repairs what a check found, as far as the engine can. What was readable before remains
    /// readable.
    ///
    /// - Returns: the actions taken, in order.
    /// - Throws: ``BackupError``: `locked` when another process uses the repository.
    func repair(_ check: RepositoryCheck) async throws(BackupError) -> [RepairAction]

    /// Moves the files of unreadable snapshots aside, under names that mark them as damaged.
    /// Nothing is deleted.
    ///
    /// - Parameter identifiers: the first digits of the snapshots' identifiers:
    ///   ``RepositoryCheck/damagedSnapshots``.
    /// - Returns: the actions taken; empty when the engine cannot set snapshots aside.
    /// - Throws: ``BackupError``: `locked`, `notWritable`.
    func setAside(_ identifiers: [String]) async throws(BackupError) -> [RepairAction]

    /// Changes the tags of a snapshot.
    ///
    /// - Throws: ``BackupError``: `locked` when the engine needs the repository for itself and
    ///   another process uses it.
    func retag(
        _ snapshot: Snapshot, adding: [String], removing: [String]
    ) async throws(BackupError)

    /// Removes snapshots. Data that several snapshots share stays until ``prune()``.
    ///
    /// - Throws: ``BackupError``: `locked` when another process uses the repository.
    func remove(_ snapshots: [Snapshot]) async throws(BackupError)

    /// Removes data that no snapshot needs.
    ///
    /// - Throws: ``BackupError``: `locked` when another process uses the repository.
    func prune() async throws(BackupError)
}

extension BackupEngine {
    package var longestPath: Int? { nil }
    package var repairsLinkTargets: Bool { false }
    package var repairsAttributeNames: Bool { false }
    package var storesPlaintext: Bool { false }
    package func recover() async throws(BackupError) {}
    package func prepareReading() async {}
    /// Passes every entry of a snapshot to a handler: see ``readEntries(of:below:with:)``.
    package func readEntries<Handler: SnapshotEntryHandler>(
        of identifier: String, with handler: Handler
    ) async throws(BackupError) -> Handler {
        try await readEntries(of: identifier, below: nil, with: handler)
    }
    /// Always empty: files that changed while they were read are among the shortfalls of storing
    /// them.
    package func torn(among changed: [SnapshotEntry], of identifier: String) -> [SnapshotEntry] {
        []
    }
    package func prune() async throws(BackupError) {}
    package func repair(_ check: RepositoryCheck) async throws(BackupError) -> [RepairAction] { [] }
}

/// The input of an engine for a new snapshot.
package struct StoreRequest: Sendable {
    /// What to store and what to exclude.
    package let plan: BackupPlan
    /// All tags of the new snapshot.
    package let tags: [String]
    /// The newest snapshot of the same SOURCEs and machine; nil for the first one. Files that have
    /// not changed since need not be read again.
    package let predecessor: Snapshot?
    /// The record to store with the snapshot: see ``SnapshotRecord``.
    package let record: [UInt8]
}

/// The outcome of storing a snapshot.
package struct StoredSnapshot: Sendable {
    /// The new snapshot's identifier, or its first digits.
    package var identifier: String
    /// The number of files that the predecessor did not contain.
    package var newFiles: Int64 = 0
    /// The number of files that differ from those in the predecessor.
    package var changedFiles: Int64 = 0
    /// The number of files that are the same as in the predecessor, and were not read again.
    package var unchangedFiles: Int64 = 0
    /// The number of bytes by which the repository grew.
    package var addedBytes: Int64 = 0
    /// The items that the engine could not store. Bytes of a path that the engine cannot report are
    /// 0xFF.
    package var shortfalls: [Shortfall] = []
    /// The number of further items that it could not store and does not name.
    package var unnamedShortfalls = 0

    package init(identifier: String) { self.identifier = identifier }
}

/// The items that an engine must restore, and where.
package struct RestoreRequest: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// The directory below which each item is restored with its whole path.
    package let target: FilePath
    /// The paths of the snapshot that are wanted.
    package let includes: IncludedPaths
    /// Whether files in the target are overwritten. If not, the target was just seen empty or
    /// absent, and a file that has appeared since stays as it is and is a failure.
    package let overwrites: Bool
    /// What is restored, as far as it is known before.
    var totals = RestoreTotals()
    /// The items with extended attributes, from the snapshot's record; nil if they are unknown.
    package var attributed: AttributedItems?
}

/// The number of items to restore and their size, for the progress.
package struct RestoreTotals: Sendable, Hashable {
    /// The number of items; 0 if unknown.
    var items: Int64 = 0
    /// The size of the files among them, in bytes; 0 if unknown.
    var bytes: Int64 = 0
}
