import SystemCalls
import SystemPackage
import TextFormats

/// Snapshots of a repository, and what stands in their place where they cannot be read.
package struct SnapshotList: Sendable {
    /// The snapshots that fit, in the order of ``Snapshot/isOlder(than:)``.
    package var snapshots: [Snapshot]
    /// Snapshots that nobody can tell what they are of: they may fit, or not. Sorted.
    package var unreadable: [UnreadableSnapshot]

    package init(_ snapshots: [Snapshot], unreadable: [UnreadableSnapshot] = []) {
        self.snapshots = snapshots.sorted { $0.isOlder(than: $1) }
        self.unreadable = Set(unreadable).sorted { $0.identifier < $1.identifier }
    }
}

/// A snapshot of which the repository holds something, but not what a reader needs.
package struct UnreadableSnapshot: Sendable, Hashable {
    /// The identifier, or its first digits.
    package let identifier: String
    /// What is wrong, in words.
    package let problem: String

    package init(identifier: String, problem: String) {
        self.identifier = identifier
        self.problem = problem
    }

    /// What is wrong and how to go on, with the identifier.
    package var sentence: String {
        "snapshot \(identifier.prefix(8)) cannot be read and is passed over: \(problem) "
            + "(set it aside: resval-backup verify --repair)"
    }
}

extension BackupEngine {
    /// The snapshots that fit and can be read, in the order of ``Snapshot/isOlder(than:)``.
    ///
    /// - Throws: as ``list(_:)`` does.
    package func snapshots(_ filter: SnapshotFilter) async throws(BackupError) -> [Snapshot] {
        try await list(filter).snapshots
    }

    /// All snapshots that can be read, in the order of ``Snapshot/isOlder(than:)``.
    ///
    /// - Throws: as ``list(_:)`` does.
    package func snapshots() async throws(BackupError) -> [Snapshot] {
        try await snapshots(SnapshotFilter())
    }

    /// This machine's snapshots, those of other programs too. Reports those whose time is in the
    /// future.
    ///
    /// - Throws: as ``list(_:)`` does.
    package func ownSnapshots() async throws(BackupError) -> SnapshotList {
        let own = try await list(SnapshotFilter(hostName: hostName()))
        let now = currentTime().seconds
        let early = own.snapshots.filter { $0.isFromFuture(at: now) }
        if let last = early.max(by: { $0.time < $1.time }) {
            let others = early.count == 1 ? "" : " (and \(early.count - 1) more)"
            warn(
                "snapshot \(last.shortIdentifier)\(others) is dated in the future, "
                    + "\(last.time.rfc3339ToTheSecond): it is never taken for the latest, and never "
                    + "forgotten (if the clock of this machine is right, remove it by its ID with "
                    + "the tool of the repository once it is not needed)")
        }
        return own
    }

    /// The snapshots of a set of SOURCEs made on this machine, without those that are held for a
    /// purpose of their own.
    ///
    /// - Parameter sources: real paths.
    /// - Throws: as ``list(_:)`` does.
    package func ownSnapshots(
        of sources: [FilePath]
    ) async throws(BackupError) -> SnapshotList {
        try await ownSnapshots().ofSet(SourceTags(sources).set)
    }
}

extension SnapshotList {
    /// Those of a set of SOURCEs that are not held for a purpose of their own.
    func ofSet(_ set: String) -> SnapshotList {
        SnapshotList(
            snapshots.filter { $0.sourceSet == set && !$0.isHeld }, unreadable: unreadable)
    }
}
