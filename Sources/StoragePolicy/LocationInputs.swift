import SystemPackage

/// Everything that decides where the locations are.
public struct LocationInputs: Sendable, Hashable {
    /// The home and the XDG base directories.
    public var base: BaseDirectories
    /// The contents of `user-dirs.dirs` in the configuration home; empty when there is none.
    public var userDirectories: [UInt8]
    /// Locations that the configuration or the command line names.
    public var named: [StorageLocation]
    /// Other directories that are never part of a location.
    public var protected: [FilePath]
    /// Where filesystems are mounted, as real paths.
    public var mountPoints: [FilePath]
    /// The real path of each of ``pathsToResolve`` that exists.
    ///
    /// Rules compare real paths, so that no symbolic link makes a home disposable. A path without an
    /// entry is taken as it stands.
    public var realPaths: [FilePath: FilePath] = [:]
    /// For each of ``pathsOfLocations`` to which no safe way leads, the item where another user decides
    /// where it leads. Such a path is no location.
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

    /// The paths whose real paths the rules want to know.
    public var pathsToResolve: Set<FilePath> {
        pathsOfLocations.union(base.homes + unresolvedProtectedRoots)
    }

    /// The paths whose content may be deleted or left out of backups because of where it lies.
    public var pathsOfLocations: Set<FilePath> {
        let settings = [base.cacheHome, base.dataHome, base.temporaryDirectory]
        return Set(fixedTemporaryDirectories + named.map(\.path) + settings.compactMap { $0?.path })
    }

    func realPath(of path: FilePath) -> FilePath {
        realPaths[path] ?? path.lexicallyNormalized()
    }

    /// The XDG user directories, by configuration and by default name.
    var userDirectoryPaths: [FilePath] {
        guard let home = base.home else { return [] }
        let configured = UserDirectories(contents: userDirectories, home: home).paths
        let byName = UserDirectories.defaultNames.map { home.appending($0) }
        return configured.sorted { $0.key < $1.key }.map(\.value) + byName
    }

    /// What can never be purged, and never be part of a location.
    var unresolvedProtectedRoots: [FilePath] {
        let secrets = [".ssh", ".gnupg"].compactMap { base.home?.appending($0) }
        let settings = [base.configurationHome, base.stateHome].compactMap { $0?.path }
        return userDirectoryPaths + secrets + settings + protected
    }
}

let fixedTemporaryDirectories: [FilePath] = ["/tmp", "/var/tmp"]
