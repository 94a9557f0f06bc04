import SystemCalls
import SystemPackage

/// Files that belong to a database beside them, as SQLite names them.
enum Companions {
    /// The ends of their names, behind the database's.
    static let suffixes = ["-wal", "-shm", "-journal"]

    /// The path of the database that a companion goes with; nil for what is no companion.
    ///
    /// - Parameter path: the path or the name.
    static func database(of path: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        // The last letters of the ends: most names have another one.
        guard let last = path.last, last == UInt8(ascii: "l") || last == UInt8(ascii: "m")
        else { return nil }
        guard let suffix = suffixes.first(where: { path.hasSuffix($0) }) else { return nil }
        return Array(path.dropLast(suffix.utf8.count))
    }

    /// Whether a file has a companion beside it. When that cannot be found out, it has.
    static func exist(besides path: [UInt8]) -> Bool {
        suffixes.contains { suffix in
            do throws(Errno) {
                _ = try FilePath(bytes: path + Array(suffix.utf8)).withoutFollowing.status()
                return true
            } catch {
                return error != .noSuchFileOrDirectory && error != .fileNameTooLong
            }
        }
    }
}
