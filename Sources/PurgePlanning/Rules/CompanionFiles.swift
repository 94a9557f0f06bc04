import SystemCalls
import SystemPackage

/// Files that belong to another file in the same directory: the sidecars of a database, as SQLite
/// names them, and what editors keep beside a file that is being edited. Without the sidecar the
/// database is damaged; without the file a swap file restores part of it.
enum CompanionFiles {
    /// What stands before and after the name of the file.
    private static let affixes = [
        ("", "-wal"), ("", "-shm"), ("", "-journal"), (".", ".kate-swp"), (".~lock.", "#"),
        (".#", ""), ("#", "#"), (".", ".swp"), (".", ".swo"), (".", ".swn"), (".", ".swm"),
    ].map { (before: Array($0.0.utf8), after: Array($0.1.utf8)) }

    /// Returns the names of the files that a file may belong to; empty for most names.
    static func owners(of name: UnsafeRawBufferPointer) -> [[UInt8]] {
        // All companions begin with one of these, or end in one of these letters.
        guard let first = name.first, let last = name.last,
            first == UInt8(ascii: ".") || first == UInt8(ascii: "#") || last == UInt8(ascii: "l")
                || last == UInt8(ascii: "m")
        else { return [] }
        return affixes.flatMap { before, after -> [[UInt8]] in
            guard name.count > before.count + after.count, name.starts(with: before),
                name.suffix(after.count).elementsEqual(after)
            else { return [] }
            let owner = Array(name.dropFirst(before.count).dropLast(after.count))
            // Vim adds no second dot.
            return before == [UInt8(ascii: ".")] ? [owner, before + owner] : [owner]
        }
    }

    /// Whether a file has a companion next to it; true also when that cannot be determined.
    ///
    /// - Parameter status: returns the status of a name next to the file; nil when there is none.
    static func exist(
        besides name: [UInt8], _ status: ([UInt8]) throws(Errno) -> FileStatus?
    ) -> Bool {
        affixes.contains { before, after in
            let isHidden = name.first == UInt8(ascii: ".") && before == [UInt8(ascii: ".")]
            do throws(Errno) {
                return try status((isHidden ? [] : before) + name + after) != nil
            } catch {
                return error != .noSuchFileOrDirectory && error != .fileNameTooLong
            }
        }
    }
}
