import SystemCalls
import SystemPackage

/// Directories that cannot be locations for temporary files or caches, even if named.
enum SystemPlaces {
    /// The system's directories: no location may be, be inside or contain one.
    private static let directories: [FilePath] = [
        "/bin", "/boot", "/dev", "/efi", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32",
        "/lost+found", "/nix", "/ostree", "/proc", "/run", "/sbin", "/snap", "/sys", "/sysroot",
        "/usr", "/var",
    ]

    /// Directories that are not locations themselves, but may contain some.
    private static let shelves: [FilePath] = ["/home", "/media", "/mnt", "/opt", "/root", "/srv"]

    /// The directories in `/var` for temporary files and caches.
    private static let disposable: [FilePath] = ["/var/cache", "/var/tmp"]

    /// Directories in a home that cannot be locations for temporary files or caches, by default
    /// names.
    private static let ofHomes =
        UserDirectories.defaultNames + [
            ".ssh", ".gnupg", ".config", ".local/share", ".local/state",
        ]

    /// Returns the directory that prevents a path from being a named location; nil if none does.
    ///
    /// - Parameters:
    ///   - path: a real path.
    ///   - homes: the homes of all users.
    static func obstacle(to path: FilePath, homes: [FilePath]) -> FilePath? {
        if shelves.contains(path) { return path }
        let isDisposable =
            disposable.contains { path.isHeld(by: $0) }
            || homes.contains {
                $0.isStrictlyBelow("/var") && path.isHeld(by: $0.appending(".cache"))
            }
        if isDisposable { return nil }
        return directories.first { path.isHeld(by: $0) || $0.isHeld(by: path) }
    }

    /// Returns a user's directory for documents, keys, settings or data that a path is, contains or
    /// is inside; nil if there is none.
    static func userDirectory(overlapping path: FilePath, homes: [FilePath]) -> FilePath? {
        homes.filter { path.isHeld(by: $0) }.lazy
            .flatMap { home in ofHomes.lazy.map { home.appending($0) } }
            .first { path.isHeld(by: $0) || $0.isHeld(by: path) }
    }
}
