import SystemPackage

/// One machine's snapshots, apart by the SOURCEs they are of: sets that never touch each other.
package struct SnapshotSets: Sendable {
    /// The snapshots of one set of SOURCEs.
    package struct OneSet: Sendable {
        /// The tag that tells the set.
        package let tag: String
        /// The snapshots, in the order they were made.
        package let snapshots: [Snapshot]

        /// What was backed up.
        package var sources: [FilePath] { snapshots.last?.sources ?? [] }
    }

    /// The sets, in the order of their tags.
    package let sets: [OneSet]

    /// - Parameter snapshots: one machine's, in the order they were made. Those of other programs
    ///   belong to no set.
    package init(_ snapshots: [Snapshot]) {
        var bySet: [String: [Snapshot]] = [:]
        for snapshot in snapshots {
            if let tag = snapshot.sourceSet { bySet[tag, default: []].append(snapshot) }
        }
        sets = bySet.sorted { $0.key < $1.key }.map { OneSet(tag: $0.key, snapshots: $0.value) }
    }
}
