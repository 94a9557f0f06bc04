/// What the last line of a manifest tells.
struct ManifestEnd: Sendable, Hashable {
    /// How many items there are.
    var items: Int64 = 0
    /// The sizes of the regular files, in bytes; a file with several names counts once.
    var bytes: Int64 = 0
    /// How many items should be there and are not, or not as they were.
    var shortfalls: Int64 = 0
    /// The archive's size in bytes.
    var archiveSize: Int64 = 0
    /// The archive's SHA-256, in hexadecimal.
    var archiveDigest = ""
    /// The SHA-256 of the lines between the first and this one, in hexadecimal.
    var linesDigest = ""
}

/// What the first line of a manifest tells.
struct ManifestHead: Sendable, Hashable {
    /// The version of the format that is written. Readers refuse a higher one.
    static let currentVersion: Int64 = 1

    /// The version of the format.
    let version: Int64
    /// The snapshot.
    let snapshot: Snapshot
}
