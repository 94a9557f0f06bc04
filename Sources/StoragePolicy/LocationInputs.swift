import SystemPackage

/// The inputs that determine the locations.
public struct LocationInputs: Sendable, Hashable {
    /// The home and the XDG base directories.
    public var base: BaseDirectories
    /// The contents of `user-dirs.dirs` in the configuration home; empty if there is none.
    public var userDirectories: [UInt8]
    /// The locations named by the configuration or the command line.
    public var named: [StorageLocation]
    /// Additional directories that are never part of a location.
    public var protected: [FilePath]
    /// The mount points, as real paths.
    public var mountPoints: [FilePath]
    /// The real path of each of ``pathsToResolve`` that exists.
    ///
    /// Rules compare real paths, so that no symbolic link makes a home disposable. A path without
    /// an entry is only normalized lexically.
    public var realPaths: [FilePath: FilePath] = [:]
    /// The paths of ``pathsOfLocations`` that cannot be reached safely, each with the item at which
    /// another user can redirect it. Such a path is not a location.
    public var unsafePaths: [FilePath: FilePath] = [:]

    /// Creates inputs.
    public init(
        base: BaseDirectories, userDirectories: [UInt8] = [], named: [StorageLocation] = [],
        protected: [FilePath] = [], mountPoints: [FilePath] = []
    ) {
        self.base = base
        self.userDirectories = userDirectories
        self.named = named
        self.protected = protected
        self.mountPoints = mountPoints
    }

    /// The paths whose real paths the rules need.
    public var pathsToResolve: Set<FilePath> {
        pathsOfLocations.union(base.homes + unresolvedProtectedRoots)
    }

    /// The paths whose content may be deleted or excluded from backups because of its location.
    public var pathsOfLocations: Set<FilePath> {
        let settings = [base.cacheHome, base.dataHome, base.temporaryDirectory]
        return Set(fixedTemporaryDirectories + named.map(\.path) + settings.compactMap { $0?.path })
    }

    func realPath(of path: FilePath) -> FilePath {
        realPaths[path] ?? path.lexicallyNormalized()
    }

    /// The XDG user directories, as configured and by their default names.
    var userDirectoryPaths: [FilePath] {
        guard let home = base.home else { return [] }
        let configured = UserDirectories(contents: userDirectories, home: home).paths
        let byName = UserDirectories.defaultNames.map { home.appending($0) }
        return configured.sorted { $0.key < $1.key }.map(\.value) + byName
    }

    /// The directories that are never purged and never part of a location, not yet resolved.
    var unresolvedProtectedRoots: [FilePath] {
        let secrets = [".ssh", ".gnupg"].compactMap { base.home?.appending($0) }
        let settings = [base.configurationHome, base.stateHome].compactMap { $0?.path }
        return userDirectoryPaths + secrets + settings + protected
    }
}

let fixedTemporaryDirectories: [FilePath] = ["/tmp", "/var/tmp"]
