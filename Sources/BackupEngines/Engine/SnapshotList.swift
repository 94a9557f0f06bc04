import SystemCalls
import SystemPackage
import TextFormats

/// Snapshots of a repository, and those that cannot be read.
package struct SnapshotList: Sendable {
    /// The snapshots that match, in the order of ``Snapshot/isOlder(than:)``.
    package var snapshots: [Snapshot]
    /// The snapshots that cannot be read, and so may match or not. Sorted by identifier.
    package var unreadable: [UnreadableSnapshot]

    package init(_ snapshots: [Snapshot], unreadable: [UnreadableSnapshot] = []) {
        self.snapshots = snapshots.sorted { $0.isOlder(than: $1) }
        self.unreadable = Set(unreadable).sorted { $0.identifier < $1.identifier }
    }
}

/// A snapshot that is in the repository, but cannot be read.
package struct UnreadableSnapshot: Sendable, Hashable {
    /// The identifier, or its first digits.
    package let identifier: String
    /// What is wrong, in words.
    package let problem: String

    package init(identifier: String, problem: String) {
        self.identifier = identifier
        self.problem = problem
    }

    /// What is wrong and how to proceed, with the identifier.
    package var sentence: String {
        "snapshot \(identifier.prefix(8)) cannot be read and is skipped: \(problem) "
            + "(check the repository: resval-backup verify)"
    }
}

extension Restic {
    /// Returns the snapshots that match and can be read, in the order of
    /// ``Snapshot/isOlder(than:)``.
    ///
    /// - Throws: as ``list(_:)`` does.
    package func snapshots(_ filter: SnapshotFilter) async throws(BackupError) -> [Snapshot] {
        try await list(filter).snapshots
    }

    /// Returns all snapshots that can be read, in the order of ``Snapshot/isOlder(than:)``.
    ///
    /// - Throws: as ``list(_:)`` does.
    package func snapshots() async throws(BackupError) -> [Snapshot] {
        try await snapshots(SnapshotFilter())
    }

    /// Returns this machine's snapshots, including those of other programs. Warns of those dated in
    /// the future.
    ///
    /// - Throws: as ``list(_:)`` does.
    package func ownSnapshots() async throws(BackupError) -> SnapshotList {
        let own = try await list(SnapshotFilter(hostName: hostName()))
        let now = FileTime.now.seconds
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

    /// Returns the snapshots of a set of SOURCEs made on this machine, except those with the only
    /// copies of evicted files.
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
    /// Returns the snapshots of a set of SOURCEs, except those with the only copies of evicted
    /// files.
    func ofSet(_ set: String) -> SnapshotList {
        SnapshotList(
            snapshots.filter { $0.sourceSet == set && !$0.isPinned }, unreadable: unreadable)
    }
}

/// One machine's snapshots, separated by their SOURCEs into independent sets.
package struct SnapshotSets: Sendable {
    /// The snapshots of one set of SOURCEs.
    package struct OneSet: Sendable {
        /// The tag that identifies the set.
        package let tag: String
        /// The snapshots, in the order they were made.
        package let snapshots: [Snapshot]

        /// The SOURCEs that were backed up.
        package var sources: [FilePath] { snapshots.last?.sources ?? [] }
    }

    /// The sets, in the order of their tags.
    package let sets: [OneSet]

    /// Groups snapshots by their SOURCEs.
    ///
    /// - Parameter snapshots: one machine's snapshots, in the order they were made. Those of other
    ///   programs belong to no set.
    package init(_ snapshots: [Snapshot]) {
        var bySet: [String: [Snapshot]] = [:]
        for snapshot in snapshots {
            if let tag = snapshot.sourceSet { bySet[tag, default: []].append(snapshot) }
        }
        sets = bySet.sorted { $0.key < $1.key }.map { OneSet(tag: $0.key, snapshots: $0.value) }
    }
}
