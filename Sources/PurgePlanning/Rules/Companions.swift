/// Files that belong to a database beside them, as SQLite names them.
enum Companions {
    /// The ends of their names, behind the database's.
    static let suffixes = ["-wal", "-shm", "-journal"]

    /// Whether a name is that of a companion, which goes only with its database.
    static func isCompanion(_ name: [UInt8]) -> Bool { suffixes.contains { name.hasSuffix($0) } }
}
