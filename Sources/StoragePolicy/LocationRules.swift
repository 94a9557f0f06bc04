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
            addNamed(location)
            // A condition that another user can cause is not a mistake in naming the location, and
            // must not stop a program from its other work.
            refusals += warnings[count...].filter {
                $0.cause != .partlyProtected && $0.cause != .unsafePath
            }
        }
        for path in fixedTemporaryDirectories {
            let setting = path == fixedTemporaryDirectories.first ? "/tmp" : "/var/tmp"
            add(StorageLocation(kind: .temporary, path: path), setting, mayHoldProtected: true)
        }
        addTemporaryDirectory()
        addCaches()
        addApplicationCaches()
        addBackedUp()
    }

    private mutating func addNamed(_ location: StorageLocation) {
        let setting = "the named directory"
        guard location.path.isAbsolute else {
            return warn(.relative, setting, location.path)
        }
        guard isSafe(location.path, setting) else { return }
        let path = inputs.realPath(of: location.path)
        if !location.kind.isBackedUp, !path.isFilesystemRoot, !homes.contains(path) {
            if let directory = SystemPlaces.obstacle(to: path, homes: homes) {
                return warn(.systemDirectory, setting, location.path, directory)
            }
            if let directory = SystemPlaces.userDirectory(overlapping: path, homes: homes) {
                return warn(.overlapsProtected, setting, location.path, directory)
            }
            let mayHoldHomes = (["/var/cache"] + temporaryDirectories)
                .contains { path.isHeld(by: $0) }
            if !mayHoldHomes, let home = homes.first(where: { $0.isStrictlyBelow(path) }) {
                return warn(.holdsHome, setting, location.path, home)
            }
        }
        add(location, setting, mayHoldProtected: true)
    }

    private mutating func addTemporaryDirectory() {
        guard let setting = inputs.base.temporaryDirectory else { return }
        let path = inputs.realPath(of: setting.path)
        guard !isKnown(path) else { return }
        if !path.isFilesystemRoot,
            !temporaryDirectories.contains(where: { path.isHeld(by: $0) })
        {
            return warn(.outsideTemporary, setting.name, setting.path)
        }
        add(
            StorageLocation(kind: .temporary, path: setting.path), setting.name,
            mayHoldProtected: false)
    }

    private mutating func addCaches() {
        guard let setting = inputs.base.cacheHome else { return }
        let path = inputs.realPath(of: setting.path)
        guard !isKnown(path) else { return }
        let home = inputs.base.home.map { inputs.realPath(of: $0) }
        let isInsideHome = home.map { path.isHeld(by: $0) } ?? false
        let holdsHome = homes.contains { $0.isHeld(by: path) }
        if !isInsideHome, !holdsHome {
            return warn(.outsideHome, setting.name, setting.path, home)
        }
        add(
            StorageLocation(kind: .caches, path: setting.path), setting.name,
            mayHoldProtected: false)
    }

    /// Adds the caches of applications. An application can replace its own by a link, which then leads
    /// to something else, and does not count.
    private mutating func addApplicationCaches() {
        guard let home = inputs.base.home else { return }
        let realHome = inputs.realPath(of: home)
        for path in inputs.applicationCaches {
            var direct = path
            guard direct.removePrefix(home),
                inputs.realPath(of: path) == realHome.appending(direct.components)
            else { continue }
            add(
                StorageLocation(kind: .caches, path: path), "an application's cache",
                mayHoldProtected: false)
        }
    }

    private mutating func addBackedUp() {
        if let setting = inputs.base.dataHome, isSafe(setting.path, setting.name) {
            addUnchecked(StorageLocation(kind: .applicationSupport, path: setting.path))
        }
        for path in inputs.userDirectoryPaths {
            addUnchecked(StorageLocation(kind: .documents, path: path))
        }
    }

    /// Adds a location that is excluded from backups, unless a rule rejects it.
    ///
    /// - Parameter mayHoldProtected: whether homes and protected directories inside are cut out;
    ///   otherwise they cause the whole location to be ignored.
    private mutating func add(
        _ location: StorageLocation, _ setting: String, mayHoldProtected: Bool
    ) {
        guard isSafe(location.path, setting) else { return }
        guard !location.kind.isBackedUp else { return addUnchecked(location) }
        let path = inputs.realPath(of: location.path)
        if path.isFilesystemRoot { return warn(.filesystemRoot, setting, location.path) }
        if homes.contains(path) { return warn(.home, setting, location.path, path) }
        if let outer = undisposable.first(where: { path.isHeld(by: $0) }) {
            return warn(.overlapsProtected, setting, location.path, outer)
        }
        if mayHoldProtected {
            // The location is warned about once, however many it contains.
            let inner = undisposable.first { $0.isStrictlyBelow(path) && !isInsideHome($0) }
            if let inner { warn(.partlyProtected, setting, location.path, inner) }
        } else if let home = homes.first(where: { $0.isStrictlyBelow(path) }) {
            return warn(.holdsHome, setting, location.path, home)
        } else if let inner = undisposable.first(where: { $0.isStrictlyBelow(path) }) {
            return warn(.overlapsProtected, setting, location.path, inner)
        }
        addUnchecked(location)
    }

    private mutating func addUnchecked(_ location: StorageLocation) {
        let real = StorageLocation(kind: location.kind, path: inputs.realPath(of: location.path))
        guard !isKnown(real.path) else { return }
        locations.append(real)
    }

    private mutating func isSafe(_ path: FilePath, _ setting: String) -> Bool {
        guard let obstacle = inputs.unsafePaths[path] else { return true }
        warn(.unsafePath, setting, path, obstacle)
        return false
    }

    private func isKnown(_ path: FilePath) -> Bool { locations.contains { $0.path == path } }

    private func isInsideHome(_ path: FilePath) -> Bool {
        homes.contains { path.isHeld(by: $0) }
    }

    private mutating func warn(
        _ cause: LocationWarning.Cause, _ setting: String, _ path: FilePath,
        _ obstacle: FilePath? = nil
    ) {
        warnings.append(LocationWarning(cause, setting: setting, path: path, obstacle: obstacle))
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
