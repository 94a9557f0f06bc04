import SystemPackage

/// A program, or a format of files, that keeps snapshots in a repository.
///
/// An engine says how something is stored, found, read, brought back and removed. What is to be
/// done is the same for all engines, and lives in extensions of this protocol: which snapshot is
/// meant, what a snapshot is compared with, what its record holds, what retention keeps, what the
/// exit codes are.
package protocol BackupEngine: Sendable {
    /// Where the repository is.
    var repository: RepositoryLocation { get }

    /// The longest path, in bytes, that the engine can store; nil where it has no limit.
    var longestPath: Int? { get }

    /// Whether the engine stores another target of a symbolic link than it has, when that is not
    /// UTF-8.
    var repairsLinkTargets: Bool { get }

    /// Whether the engine stores another name of an extended attribute than it has, when that is not
    /// UTF-8.
    var repairsAttributeNames: Bool { get }

    /// Whether whoever can read the repository can read what is stored in it.
    var storesPlaintext: Bool { get }

    /// Takes what is worth a warning and keeps no work from being done: a sentence about the
    /// repository or a snapshot.
    var warn: @Sendable (String) -> Void { get }

    /// Makes a repository.
    ///
    /// - Throws: ``BackupError``: `repositoryExists`, `targetNotEmpty` for a directory full of
    ///   other files, and as every call does `unreachable`, `notWritable`, `noSpace`, `other`.
    func initialize() async throws(BackupError)

    /// Makes the repository ready to be written to after a process of this engine was killed:
    /// removes what that left behind, when it is certain that nobody uses it. Does nothing where
    /// nothing can be written.
    ///
    /// - Throws: ``BackupError``.
    func recover() async throws(BackupError)

    /// The snapshots that fit, and those that cannot be read, which are reported, too.
    ///
    /// - Throws: ``BackupError``: `noRepository`, `wrongPassword`, `locked` when someone works on
    ///   the repository alone, `damaged`.
    func list(_ filter: SnapshotFilter) async throws(BackupError) -> SnapshotList

    /// Stores what a plan says as a new snapshot, with its record and tags.
    ///
    /// A snapshot appears whole or not at all, also when this process is killed.
    ///
    /// - Parameter report: called a few times a second while files are read.
    /// - Throws: ``BackupError`` when no snapshot was made; what walking the sources throws.
    ///   Trouble with single items is in the result.
    func store(
        _ request: StoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> StoredSnapshot

    /// Of files that are not on disk any more as a snapshot has them, those whose content may be of two
    /// moments, because they changed while they were read, and not after that.
    ///
    /// - Parameters:
    ///   - changed: the files as the snapshot has them.
    ///   - identifier: the snapshot's, or its first digits.
    /// - Throws: ``BackupError``.
    func torn(
        among changed: [SnapshotEntry], of identifier: String
    ) async throws(BackupError) -> [SnapshotEntry]

    /// Hands every entry of a snapshot to a handler, in bounded memory and in the order of
    /// ``pathPrecedes(_:_:)``: a directory, then its entries by the bytes of their names, each
    /// with all below it.
    ///
    /// - Parameter identifier: a snapshot's, or so many of its first digits that it is the only one.
    /// - Throws: ``BackupError``; also what the handler throws, which ends the reading.
    func readEntries<Handler: SnapshotEntryHandler>(
        of identifier: String, with handler: Handler
    ) async throws(BackupError) -> Handler

    /// Hands the bytes of a snapshot's record to a consumer.
    ///
    /// - Throws: ``BackupError`` with the code `noRecord` when the snapshot has none; also what the
    ///   consumer throws.
    func readRecordBytes<Consumer: OutputConsumer>(
        of snapshot: Snapshot, with consumer: Consumer
    ) async throws(BackupError) -> Consumer

    /// Brings items of a snapshot back below a directory, each with its whole path, with extended
    /// attributes, hard links, holes, permissions and times.
    ///
    /// - Parameter report: called now and then with the number of items looked at.
    /// - Throws: ``BackupError`` when the whole failed. Trouble with single items is in the result.
    func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult

    /// Checks the repository's own files.
    ///
    /// - Parameter readsData: whether every byte stored is read and compared with its hash;
    ///   otherwise only the structure is looked at.
    /// - Throws: ``BackupError`` when it could not be checked. What was found is in the result.
    func check(readsData: Bool) async throws(BackupError) -> RepositoryCheck

    /// Heals what a check found, as far as the engine can. What can be read before can be read after.
    ///
    /// - Returns: what was done, in order.
    /// - Throws: ``BackupError``: `locked` when someone else uses the repository.
    func repair(_ check: RepositoryCheck) async throws(BackupError) -> [RepairAction]

    /// Moves the files of snapshots that cannot be read out of the way of all others, under names
    /// that say so. Nothing is deleted.
    ///
    /// - Parameter identifiers: the first digits: ``RepositoryCheck/damagedSnapshots``.
    /// - Returns: what was done; empty where the engine cannot.
    /// - Throws: ``BackupError``: `locked`, `notWritable`.
    func setAside(_ identifiers: [String]) async throws(BackupError) -> [RepairAction]

    /// Gives a snapshot other tags.
    ///
    /// - Throws: ``BackupError``: `locked` when the engine needs the repository for itself.
    func retag(
        _ snapshot: Snapshot, adding: [String], removing: [String]
    ) async throws(BackupError)

    /// Removes snapshots. Their data stays until ``prune()`` where several snapshots share it.
    ///
    /// - Throws: ``BackupError``: `locked` when someone else uses the repository.
    func remove(_ snapshots: [Snapshot]) async throws(BackupError)

    /// Removes data that no snapshot needs.
    ///
    /// - Throws: ``BackupError``: `locked` when someone else uses the repository.
    func prune() async throws(BackupError)
}

extension BackupEngine {
    package var longestPath: Int? { nil }
    package var repairsLinkTargets: Bool { false }
    package var repairsAttributeNames: Bool { false }
    package var storesPlaintext: Bool { false }
    package func recover() async throws(BackupError) {}
    /// None: what changed while it was read is among the shortfalls of storing it.
    package func torn(among changed: [SnapshotEntry], of identifier: String) -> [SnapshotEntry] {
        []
    }
    package func prune() async throws(BackupError) {}
    package func repair(_ check: RepositoryCheck) async throws(BackupError) -> [RepairAction] { [] }
}
