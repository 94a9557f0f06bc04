import StoragePolicy
import SystemCalls
import SystemPackage

/// The locations and mounts on this machine, as this process's environment determines them.
public struct PolicyEnvironment: Sendable, Hashable {
    /// The home and the XDG base directories.
    public let base: BaseDirectories
    /// The storage locations.
    public let locations: StorageLocations
    /// The mounted filesystems; empty when they could not be read, which ``warnings`` reports.
    public let mounts: MountTable
    /// Warnings about what was ignored or could not be read.
    public let warnings: [LocationWarning]

    /// Reads the environment, `/etc/passwd`, `user-dirs.dirs` and `/proc/self/mountinfo`.
    ///
    /// Never fails: what cannot be read yields fewer locations, and a warning.
    ///
    /// - Parameters:
    ///   - named: locations named by the configuration or the command line.
    ///   - protected: further directories that are never part of a location.
    public static func current(
        named: [StorageLocation] = [], protected: [FilePath] = []
    ) -> PolicyEnvironment {
        PolicyEnvironment(
            environment: processEnvironment(), passwordDatabase: "/etc/passwd",
            user: effectiveUser(), named: named, protected: protected)
    }

    /// Reads the same, but takes the environment variables and the path of the password database
    /// from the caller.
    ///
    /// - Parameters:
    ///   - environment: the variables by name, without a dollar sign.
    ///   - passwordDatabase: the path of a file in the format of passwd(5).
    ///   - user: the user's uid.
    ///   - named: locations named by the configuration or the command line.
    ///   - protected: further directories that are never part of a location.
    public init(
        environment: [String: FilePath], passwordDatabase: FilePath, user: UInt32,
        named: [StorageLocation] = [], protected: [FilePath] = []
    ) {
        var reader = FileReader()
        var accounts = PasswordDatabase(contents: reader.contents(of: passwordDatabase))
        mounts = MountTable(mountinfo: reader.contents(of: "/proc/self/mountinfo"))
        for location in named where !mounts.mayBeSilent(location.path) {
            accounts.addUnlistedOwners(on: location.path, but: user)
        }
        base = BaseDirectories(environment: environment, passwordDatabase: accounts, user: user)
        var inputs = LocationInputs(base: base, named: named, protected: protected)
        if let configuration = base.configurationHome {
            inputs.userDirectories = reader.contents(
                of: configuration.path.appending("user-dirs.dirs"), limit: settingsLimit,
                mayBeMissing: true)
        }
        inputs.mountPoints = mounts.mounts.map(\.mountPoint)
        inputs.applicationCaches = applicationCaches(in: base.home, mounts)
        inputs.realPaths = realPaths(of: inputs.pathsToResolve, home: base.home, mounts)
        inputs.unsafePaths = unsafePaths(among: inputs.pathsOfLocations, mounts)
        locations = StorageLocations(inputs)
        warnings = reader.warnings + locations.warnings
    }
}

extension PolicyEnvironment {
    /// Returns the status of the item at a path; nil when it does not exist, cannot be reached, or
    /// is on a network or FUSE filesystem, which may never respond.
    package func localStatus(of path: FilePath) -> FileStatus? {
        guard let real = realPath(of: path, notBeyond: mounts), !mounts.isRemote(real) else {
            return nil
        }
        // An item that vanished or cannot be reached is treated like one that never existed.
        return try? real.status()
    }

    /// Whether the rules about locations accept a directory as a location of a kind.
    package func accepts(_ directory: FilePath, as kind: StorageLocation.Kind) -> Bool {
        let real = existingRealPath(of: directory)
        return locations.locations.contains { $0.kind == kind && $0.path == real }
    }
}

/// Returns the real path of a directory that exists; otherwise the normalized path.
package func existingRealPath(of path: FilePath) -> FilePath {
    (try? realPath(of: path)) ?? path.lexicallyNormalized()
}

extension PasswordDatabase {
    /// Adds the homes of the users whom the file does not name and to whom directories on the way to a
    /// path belong: as ``NameService`` answers, and otherwise the topmost directory of the user.
    fileprivate mutating func addUnlistedOwners(on path: FilePath, but user: UInt32) {
        guard path.isAbsolute else { return }
        let real = existingRealPath(of: path)
        for owner in owners(on: real) where owner != user && owner != 0 && !users.contains(owner) {
            let home =
                NameService.shared.home(of: owner) ?? topmostDirectory(of: owner, on: real)
            if let home { add(Account(user: owner, home: home)) }
        }
    }
}

/// Returns the owners of the directories on the way to a path, and of the item itself.
package func owners(on path: FilePath) -> Set<UInt32> {
    var owners: Set<UInt32> = []
    var next = path
    repeat {
        // What cannot be reached leads to nothing.
        if let owner = try? next.withoutFollowing.status().owner { owners.insert(owner) }
    } while next.removeLastComponent()
    return owners
}

/// Reads small files, and collects warnings about those that could not be read.
private struct FileReader {
    var warnings: [LocationWarning] = []

    mutating func contents(
        of path: FilePath, limit: Int = 64 << 20, mayBeMissing: Bool = false
    ) -> [UInt8] {
        do throws(FileError) {
            return try contentsOfFile(path, limit: limit)
        } catch {
            let isMissing = error.code == .noSuchFile || error.code == .notADirectory
            if !(mayBeMissing && isMissing) {
                let setting = path.lastComponent?.string ?? "a file"
                warnings.append(LocationWarning(.unreadable, setting: setting, path: path))
            }
            return []
        }
    }
}

/// Returns the directories for caches that Flatpak and snap give each application. On network and
/// FUSE filesystems, which may never respond, none are looked for.
private func applicationCaches(in home: FilePath?, _ mounts: MountTable) -> [FilePath] {
    guard let home else { return [] }
    let places: [(directory: FilePath, cache: FilePath)] = [
        (home.appending(".var/app"), "cache"), (home.appending("snap"), "common/.cache"),
    ]
    return places.flatMap { place -> [FilePath] in
        guard let real = realPath(of: place.directory, notBeyond: mounts), !mounts.isRemote(real)
        else { return [] }
        // What cannot be listed is no location, and so is backed up.
        return readableNames(in: real)
            .map { place.directory.pushing(FilePath(bytes: $0)).pushing(place.cache) }
            .filter { realPath(of: $0, notBeyond: mounts) != nil }
    }
}

/// Returns the real path of each path that has one. A missing or unreachable path needs none: no
/// walk can reach it by another name. Paths on network and FUSE filesystems are skipped, since
/// these may never respond, unless the home is on one too or cannot be resolved.
private func realPaths(
    of paths: Set<FilePath>, home: FilePath?, _ mounts: MountTable
) -> [FilePath: FilePath] {
    let realHome = home.map { realPath(of: $0, notBeyond: mounts) } ?? nil
    let isHomeLocal = realHome.map { !mounts.isRemote($0) } ?? false
    var table: [FilePath: FilePath] = [:]
    for path in paths where path.isAbsolute {
        let real = isHomeLocal ? realPath(of: path, notBeyond: mounts) : try? realPath(of: path)
        guard let real else { continue }
        table[path] = real
    }
    return table
}

/// Returns the unsafe paths, each with the item at which another user controls the path.
private func unsafePaths(
    among paths: Set<FilePath>, _ mounts: MountTable
) -> [FilePath: FilePath] {
    var table: [FilePath: FilePath] = [:]
    for path in paths where path.isAbsolute && !mounts.mayBeSilent(path) {
        do throws(FileError) {
            _ = try NamedItem(at: path)
        } catch {
            // A path that cannot be reached for another reason is not met by a walk either.
            if error.code == .unsafePath { table[path] = error.path ?? path }
        }
    }
    return table
}

/// Returns the home and the base directories of the user this process runs as.
///
/// Reads the environment, and `/etc/passwd` only if the environment does not determine the home.
/// Much cheaper than a whole ``PolicyEnvironment``.
package func currentBaseDirectories() -> BaseDirectories {
    let environment = processEnvironment()
    func directories(_ accounts: [UInt8]) -> BaseDirectories {
        BaseDirectories(
            environment: environment, passwordDatabase: PasswordDatabase(contents: accounts),
            user: effectiveUser())
    }
    let base = directories([])
    if base.home != nil { return base }
    return (try? contentsOfFile("/etc/passwd")).map(directories) ?? base
}

/// Returns the user's state directory, `$XDG_STATE_HOME` or `~/.local/state`; nil when the home is
/// unknown.
package func stateHome() -> FilePath? { currentBaseDirectories().stateHome?.path }

private let variables = [
    "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
]

private func processEnvironment() -> [String: FilePath] {
    var environment: [String: FilePath] = [:]
    for variable in variables {
        environment[variable] = environmentVariable(variable).map { FilePath(bytes: $0) }
    }
    return environment
}
