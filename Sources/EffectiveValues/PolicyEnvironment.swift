import StoragePolicy
import SystemCalls
import SystemPackage

/// What this machine and this process's environment say about locations and mounts.
public struct PolicyEnvironment: Sendable, Hashable {
    /// The home and the XDG base directories.
    public let base: BaseDirectories
    /// Where the locations are.
    public let locations: StorageLocations
    /// The mounted filesystems; empty when they could not be read, which ``warnings`` tell.
    public let mounts: MountTable
    /// What was ignored or could not be read.
    public let warnings: [LocationWarning]

    /// Reads the environment, `/etc/passwd`, `user-dirs.dirs` and `/proc/self/mountinfo`.
    ///
    /// Never fails: what cannot be read makes fewer locations, and a warning.
    ///
    /// - Parameters:
    ///   - named: locations the configuration or the command line names.
    ///   - protected: other directories that are never part of a location.
    public static func current(
        named: [StorageLocation] = [], protected: [FilePath] = []
    ) -> PolicyEnvironment {
        PolicyEnvironment(
            environment: processEnvironment(), passwordDatabase: "/etc/passwd",
            user: effectiveUser(), named: named, protected: protected)
    }

    /// Reads everything but the environment variables and the place of the password database, which
    /// are given.
    ///
    /// - Parameters:
    ///   - environment: the variables by name, without a dollar sign.
    ///   - passwordDatabase: the path of a file in the format of passwd(5).
    ///   - user: the user's number.
    ///   - named: locations the configuration or the command line names.
    ///   - protected: other directories that are never part of a location.
    public init(
        environment: [String: FilePath], passwordDatabase: FilePath, user: UInt32,
        named: [StorageLocation] = [], protected: [FilePath] = []
    ) {
        var reader = FileReader()
        let accounts = PasswordDatabase(contents: reader.contents(of: passwordDatabase))
        base = BaseDirectories(environment: environment, passwordDatabase: accounts, user: user)
        var inputs = LocationInputs(base: base, named: named, protected: protected)
        if let configuration = base.configurationHome {
            inputs.userDirectories = reader.contents(
                of: configuration.path.appending("user-dirs.dirs"), limit: settingsLimit,
                mayBeMissing: true)
        }
        mounts = MountTable(mountinfo: reader.contents(of: "/proc/self/mountinfo"))
        inputs.mountPoints = mounts.mounts.map(\.mountPoint)
        inputs.realPaths = realPaths(of: inputs.pathsToResolve, home: base.home, mounts)
        inputs.unsafePaths = unsafePaths(among: inputs.pathsOfLocations, mounts)
        locations = StorageLocations(inputs)
        warnings = reader.warnings + locations.warnings
    }
}

extension PolicyEnvironment {
    /// The status of what is at a path; nil where nothing is, it cannot be reached, or a server or program
    /// answers for it, which may never do so.
    package func localStatus(of path: FilePath) -> FileStatus? {
        guard let real = realPath(of: path, notBeyond: mounts), !mounts.isRemote(real) else {
            return nil
        }
        // What vanished, or cannot be reached, is nil like what was never there.
        return try? real.status()
    }
}

/// Reads small files, and keeps what could not be read.
private struct FileReader {
    var warnings: [LocationWarning] = []

    mutating func contents(
        of path: FilePath, limit: Int = 64 << 20, mayBeMissing: Bool = false
    ) -> [UInt8] {
        do throws(Errno) {
            return try contentsOfFile(path, limit: limit)
        } catch {
            let isMissing = error == .noSuchFileOrDirectory || error == .notDirectory
            if !(mayBeMissing && isMissing) {
                let setting = path.lastComponent?.string ?? "a file"
                warnings.append(LocationWarning(.unreadable, setting: setting, path: path))
            }
            return []
        }
    }
}

/// The real path of every path that has one. A missing or unreachable path is no place a walk could
/// come to by another name; nor is one on a server that may never answer, unless the home is there, too,
/// and nothing goes without.
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

/// Those of paths to which no safe way leads, with the item where another user decides.
private func unsafePaths(
    among paths: Set<FilePath>, _ mounts: MountTable
) -> [FilePath: FilePath] {
    var table: [FilePath: FilePath] = [:]
    for path in paths where path.isAbsolute && !mounts.mayBeSilent(path) {
        do throws(FileError) {
            _ = try NamedItem(at: path)
        } catch {
            // What cannot be reached for another reason is met by nothing.
            if error.code == .unsafePath { table[path] = error.path ?? path }
        }
    }
    return table
}

/// The home and the base directories of the user this process runs as.
///
/// Reads the environment, and `/etc/passwd` only where that does not tell the home. Much less work
/// than all of ``PolicyEnvironment``.
package func currentBaseDirectories() -> BaseDirectories {
    let environment = processEnvironment()
    func directories(_ accounts: [UInt8]) -> BaseDirectories {
        BaseDirectories(
            environment: environment, passwordDatabase: PasswordDatabase(contents: accounts),
            user: effectiveUser())
    }
    let base = directories([])
    if base.home != nil { return base }
    do throws(Errno) {
        return directories(try contentsOfFile("/etc/passwd"))
    } catch {
        return base
    }
}

/// The user's directory of state, `$XDG_STATE_HOME` or `~/.local/state`; nil when no home is known.
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
