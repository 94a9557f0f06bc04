import SystemCalls
import SystemPackage

/// The rules that prevent settings from making a home disposable.
struct LocationRules {
    private let inputs: LocationInputs
    let homes: [FilePath]
    let protectedRoots: [FilePath]
    /// The protected roots and application data: no excluded location may overlap them.
    let undisposable: [FilePath]
    private let temporaryDirectories: [FilePath]
    private(set) var locations: [StorageLocation] = []
    private(set) var warnings: [LocationWarning]
    /// The warnings about named locations that were rejected.
    private(set) var refusals: [LocationWarning] = []

    init(_ inputs: LocationInputs) {
        self.inputs = inputs
        homes = inputs.base.homes.map { inputs.realPath(of: $0) }
        protectedRoots = inputs.unresolvedProtectedRoots.map { inputs.realPath(of: $0) }
        let data = inputs.base.dataHome.map { [inputs.realPath(of: $0.path)] } ?? []
        undisposable = protectedRoots + data
        temporaryDirectories = fixedTemporaryDirectories.map { inputs.realPath(of: $0) }
        warnings = inputs.base.warnings
    }

    mutating func collect() {
        for location in inputs.named {
            let count = warnings.count
            add(location, .named, "the named directory")
            // A condition that another user can cause is not a mistake in naming the location, and
            // must not stop a program from its other work.
            refusals += warnings[count...].filter {
                $0.cause != .partlyProtected && $0.cause != .unsafePath
            }
        }
        for path in fixedTemporaryDirectories {
            add(StorageLocation(kind: .temporary, path: path), .fixed, path.string)
        }
        add(inputs.base.temporaryDirectory, as: .temporary, .temporaryDirectory)
        add(inputs.base.cacheHome, as: .caches, .cacheHome)
        for path in inputs.applicationCaches where leadsToItself(path) {
            add(StorageLocation(kind: .caches, path: path), .application, "an application's cache")
        }
        add(inputs.base.dataHome, as: .applicationSupport, .dataHome)
        for path in inputs.userDirectoryPaths {
            append(StorageLocation(kind: .documents, path: inputs.realPath(of: path)))
        }
    }

    /// What makes a directory a location.
    private enum Source {
        case named, fixed, temporaryDirectory, cacheHome, application, dataHome

        /// Whether homes and protected directories inside are cut out of the location; otherwise
        /// they cause the whole location to be ignored.
        var mayHoldProtected: Bool { self == .named || self == .fixed }
    }

    private mutating func add(
        _ setting: BaseDirectories.Setting?, as kind: StorageLocation.Kind, _ source: Source
    ) {
        guard let setting else { return }
        add(StorageLocation(kind: kind, path: setting.path), source, setting.nameInWarnings)
    }

    /// Adds a location, unless a rule rejects it.
    private mutating func add(_ location: StorageLocation, _ source: Source, _ setting: String) {
        let path = inputs.realPath(of: location.path)
        guard !locations.contains(where: { $0.path == path }) else { return }
        guard let (cause, obstacle) = objection(to: location, at: path, source) else {
            return append(StorageLocation(kind: location.kind, path: path))
        }
        warnings.append(
            LocationWarning(cause, setting: setting, path: location.path, obstacle: obstacle))
        // The location is warned about once, however many it contains.
        if cause == .partlyProtected { append(StorageLocation(kind: location.kind, path: path)) }
    }

    private mutating func append(_ location: StorageLocation) {
        if !locations.contains(where: { $0.path == location.path }) { locations.append(location) }
    }

    private typealias Objection = (LocationWarning.Cause, FilePath?)

    /// Returns why a directory cannot be a location, or not as a whole; nil if nothing objects.
    private func objection(
        to location: StorageLocation, at path: FilePath, _ source: Source
    ) -> Objection? {
        guard location.path.isAbsolute else { return (.relative, nil) }
        if let step = inputs.unsafePaths[location.path] { return (.unsafePath, step) }
        if location.kind.isBackedUp { return nil }
        if path.isFilesystemRoot { return (.filesystemRoot, nil) }
        if homes.contains(path) { return (.home, path) }
        if let objection = objection(to: path, of: source) { return objection }
        if let outer = undisposable.first(where: { path.isHeld(by: $0) }) {
            return (.overlapsProtected, outer)
        }
        let home = homes.first { $0.isStrictlyBelow(path) }
        let inner = undisposable.filter { $0.isStrictlyBelow(path) }
        if source.mayHoldProtected {
            let outsideHomes = inner.first { inner in !homes.contains { inner.isHeld(by: $0) } }
            return outsideHomes.map { (.partlyProtected, $0) }
        }
        if let home { return (.holdsHome, home) }
        return inner.first.map { (.overlapsProtected, $0) }
    }

    /// Returns what objects to a location of one source only.
    private func objection(to path: FilePath, of source: Source) -> Objection? {
        let isInTemporary = temporaryDirectories.contains { path.isHeld(by: $0) }
        switch source {
        case .fixed, .application, .dataHome: return nil
        case .temporaryDirectory: return isInTemporary ? nil : (.outsideTemporary, nil)
        case .cacheHome:
            let home = inputs.base.home.map { inputs.realPath(of: $0) }
            let isInsideHome = home.map { path.isHeld(by: $0) } ?? false
            let holdsHome = homes.contains { $0.isHeld(by: path) }
            return isInsideHome || holdsHome ? nil : (.outsideHome, home)
        case .named:
            if let directory = SystemPlaces.obstacle(to: path, homes: homes) {
                return (.systemDirectory, directory)
            }
            if let directory = SystemPlaces.userDirectory(overlapping: path, homes: homes) {
                return (.overlapsProtected, directory)
            }
            if isInTemporary || path.isHeld(by: "/var/cache") { return nil }
            return homes.first { $0.isStrictlyBelow(path) }.map { (.holdsHome, $0) }
        }
    }

    /// Whether an application's cache is at its own path. An application can replace it by a link,
    /// which then leads to something else, and does not count.
    private func leadsToItself(_ cache: FilePath) -> Bool {
        var direct = cache
        guard let home = inputs.base.home, direct.removePrefix(home) else { return false }
        return inputs.realPath(of: cache)
            == inputs.realPath(of: home).appending(direct.components)
    }
}

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
    /// is inside, or nil.
    static func userDirectory(overlapping path: FilePath, homes: [FilePath]) -> FilePath? {
        homes.filter { path.isHeld(by: $0) }.lazy
            .flatMap { home in ofHomes.lazy.map { home.appending($0) } }
            .first { path.isHeld(by: $0) || $0.isHeld(by: path) }
    }
}

extension FilePath {
    /// Whether the path is absolute and not `/`, which is the home of some service accounts.
    var isUsableHome: Bool { isAbsolute && !isFilesystemRoot }

    var isFilesystemRoot: Bool { isAbsolute && components.isEmpty }

    /// Whether the path is below another, and not equal to it.
    func isStrictlyBelow(_ other: FilePath) -> Bool { self != other && isHeld(by: other) }
}
