import SystemCalls
import SystemPackage

/// Directories that are no place for temporary files or caches, whoever names them.
enum SystemPlaces {
    /// What a system is made of: nothing in one is a location, nor what holds one.
    private static let directories: [FilePath] = [
        "/bin", "/boot", "/dev", "/efi", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32",
        "/lost+found", "/nix", "/ostree", "/proc", "/run", "/sbin", "/snap", "/sys", "/sysroot",
        "/usr", "/var",
    ]

    /// Where other things stand; what is in one may be a location.
    private static let shelves: [FilePath] = ["/home", "/media", "/mnt", "/opt", "/root", "/srv"]

    /// What is for temporary files and caches in `/var`.
    private static let disposable: [FilePath] = ["/var/cache", "/var/tmp"]

    /// What in a home is no place for temporary files or caches, by the default names.
    private static let ofHomes =
        UserDirectories.defaultNames + [
            ".ssh", ".gnupg", ".config", ".local/share", ".local/state",
        ]

    /// The directory because of which a named location is refused; nil when it may be one.
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

    /// The directory for documents, keys, settings or data of some user that a path is, holds or lies
    /// in; nil when there is none.
    static func userDirectory(overlapping path: FilePath, homes: [FilePath]) -> FilePath? {
        homes.filter { path.isHeld(by: $0) }.lazy
            .flatMap { home in ofHomes.lazy.map { home.appending($0) } }
            .first { path.isHeld(by: $0) || $0.isHeld(by: path) }
    }
}
