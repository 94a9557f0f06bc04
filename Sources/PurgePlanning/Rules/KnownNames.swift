import SystemCalls
import SystemPackage

/// The names that purges give.
enum ReservedNames {
    /// Returns why a name is one that purges give, whose item is kept with everything in it; nil
    /// for other names.
    static func ownReason(_ name: some BidirectionalCollection<UInt8>) -> String? {
        AsideName.matches(name) ? "a purge put it aside" : nil
    }
}

/// Sidecar files of a database in the same directory, as SQLite names them.
enum DatabaseSidecars {
    /// The suffixes added to the name of the database.
    static let suffixes = ["-wal", "-shm", "-journal"]

    /// Returns the path of the database that a sidecar belongs to; nil when the file is not a
    /// sidecar.
    ///
    /// - Parameter path: the path or the name of the file.
    static func database(of path: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        // The suffixes end in these letters, and most names do not.
        guard let last = path.last, last == UInt8(ascii: "l") || last == UInt8(ascii: "m")
        else { return nil }
        guard let suffix = suffixes.first(where: { path.hasSuffix($0) }) else { return nil }
        return Array(path.dropLast(suffix.utf8.count))
    }

    /// Whether a file has a sidecar next to it; true also when that cannot be determined.
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

/// Directories that other programs fill, together with marks.
enum UntrustedPlaces {
    private static let names: Set<[UInt8]> = Set(
        [
            "containers", "docker", "flatpak", "lxc", "lxd", "machines", "Trash", ".Trash",
            "podman", "containerd",
        ].map { Array($0.utf8) })

    /// Whether marks in a directory of this name are not trusted.
    static func contains(_ name: some Collection<UInt8>) -> Bool {
        names.contains(Array(name)) || name.starts(with: ".Trash-".utf8)
    }
}

extension BidirectionalCollection<UInt8> {
    func hasSuffix(_ suffix: String) -> Bool {
        self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
