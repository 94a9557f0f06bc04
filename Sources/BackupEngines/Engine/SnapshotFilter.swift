/// The conditions that wanted snapshots fulfil, all of them.
package struct SnapshotFilter: Sendable, Hashable {
    /// The machine they were made on; nil for any.
    package var hostName: String?
    /// The tags that they have, all of them.
    package var tags: [String]

    package init(hostName: String? = nil, tags: [String] = []) {
        self.hostName = hostName
        self.tags = tags
    }

    /// Whether a snapshot is wanted.
    package func accepts(_ snapshot: Snapshot) -> Bool {
        (hostName == nil || hostName == snapshot.hostName)
            && tags.allSatisfy(snapshot.allTags.contains)
    }
}
