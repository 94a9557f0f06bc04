import SystemPackage

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
