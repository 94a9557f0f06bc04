/// The contents of the last line of a manifest.
struct ManifestEnd: Sendable, Hashable {
    /// The number of items.
    var items: Int64 = 0
    /// The sizes of the regular files, in bytes; hard links to one file count once.
    var bytes: Int64 = 0
    /// The number of items that are missing, or differ from those on disk.
    var shortfalls: Int64 = 0
    /// The archive's size in bytes.
    var archiveSize: Int64 = 0
    /// The archive's SHA-256, in hexadecimal.
    var archiveDigest = ""
    /// The SHA-256 of the lines between the first and this one, in hexadecimal.
    var linesDigest = ""
}

/// The contents of the first line of a manifest.
struct ManifestHead: Sendable, Hashable {
    /// The version of the format that is written. Readers reject a higher one.
    static let currentVersion: Int64 = 1

    /// The version of the format.
    let version: Int64
    /// The snapshot.
    let snapshot: Snapshot
}
