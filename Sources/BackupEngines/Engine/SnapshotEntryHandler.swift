/// Receives the entries of a snapshot, one by one.
package protocol SnapshotEntryHandler: Sendable {
    /// Receives an entry, whose path is exact.
    mutating func receive(_ entry: SnapshotEntry) throws(BackupError)
}

/// Whether a path comes before another in a snapshot: a directory before its contents, and the
/// entries of a directory by the bytes of their names.
package func pathPrecedes(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    let slash = UInt8(ascii: "/")
    for (one, other) in zip(first, second) where one != other {
        // The end of a name sorts before any byte of a longer one.
        if one == slash { return true }
        if other == slash { return false }
        return one < other
    }
    return first.count < second.count
}
