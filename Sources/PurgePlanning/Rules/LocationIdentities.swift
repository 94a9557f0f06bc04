import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The directories that rules name, by device and inode, so that the walk recognises them also
/// behind a bind mount or another hard link.
struct LocationIdentities: Sendable {
    /// The protected directories and files; nothing below them is deleted either.
    private var protectedRoots = IdentitySet()
    /// The identities that these have in snapshots, with their times of birth, which a snapshot keeps:
    /// in any other subvolume a file may have the same inode number.
    private var twins: [FileIdentity: [FileTime?]] = [:]
    /// Homes, locations, and all directories above them and above protected ones.
    private(set) var pathsToProtected = IdentitySet()
    /// The directories at which a location ends: homes, and locations whose content is not deleted
    /// because of where it lies.
    private(set) var cutOuts: Set<FileIdentity> = []
    /// The directories for temporary files and for caches.
    private(set) var areas: [FileIdentity: SearchArea] = [:]
    private let protectedParts: [FilesystemPart]
    private let mounts: MountTable
    private let longKeeping: FilePath?
    /// The directories in which all programs make their temporary files.
    private let shared: [FilePath]

    /// - Parameters:
    ///   - environment: the source of the locations, homes and protected directories.
    ///   - given: further protected directories and files.
    ///   - user: the uid of the purging user; for root, the directories of every home are
    ///     protected.
    ///   - devices: the devices that the walk stays on.
    ///   - accounts: users whom `/etc/passwd` does not name; their directories are protected from
    ///     every purge.
    init(
        _ environment: PolicyEnvironment, protected given: [FilePath] = [], user: UInt32,
        devices: Set<UInt64>, unlisted accounts: [PasswordDatabase.Account] = []
    ) {
        let locations = environment.locations
        let mounts = environment.mounts
        self.mounts = mounts
        var protected = locations.protectedRoots + given
        if user == 0 {
            let base = environment.base
            protected += OtherHomes.protectedRoots(base.homes, base.accounts, mounts)
        }
        protected += OtherHomes.protectedRoots(accounts.map(\.home), accounts, mounts)
        let homes =
            locations.homes
            + accounts.compactMap { realPath(of: $0.home, notBeyond: mounts) ?? $0.home }
        longKeeping = realPath(of: "/var/tmp", notBeyond: mounts)
        shared = [
            realPath(of: "/tmp", notBeyond: mounts), longKeeping,
            environment.base.temporaryDirectory?.path,
        ].compactMap(\.self)
        // The walk cannot reach what does not exist or lies behind a mount that purging does not
        // enter.
        let realRoots = protected.compactMap { realPath(of: $0, notBeyond: mounts) }
        protectedParts = realRoots.compactMap { FilesystemPart($0, in: mounts) }
        for root in realRoots {
            guard let status = status(of: root) else { continue }
            protectedRoots.insert(status.identity)
            for device in devices {
                if let twin = snapshotTwin(of: root, status, on: device) {
                    twins[twin, default: []].append(status.creationTime)
                }
            }
        }
        for location in locations.locations {
            // A location whose path has come to lead elsewhere does not count.
            guard status(of: location.path) != nil, let item = try? NamedItem(at: location.path),
                item.path == location.path,
                let area = area(of: location)
            else { continue }
            areas[item.status.identity] = area
        }
        let locationPaths = locations.locations.map(\.path)
        for path in realRoots + homes + locationPaths {
            for ancestor in Self.ancestors(of: path) { add(pathToProtected: ancestor) }
        }
        for path in homes + locationPaths { add(pathToProtected: path) }
        for path in homes + locations.locations.filter(\.kind.isBackedUp).map(\.path) {
            if let status = status(of: path) { cutOuts.insert(status.identity) }
        }
    }

    /// Returns the area of a location; nil for a location whose content is not deleted because of
    /// where it lies.
    func area(of location: StorageLocation) -> SearchArea? {
        switch location.kind {
        case .temporary:
            .temporary(
                keepsLonger: longKeeping.map { location.path.isHeld(by: $0) } ?? false,
                isShared: shared.contains(location.path))
        case .caches: .caches(.top)
        case .applicationSupport, .documents: nil
        }
    }

    /// Whether a path is a protected directory or lies in one, whatever mount it is reached
    /// through; true also when that cannot be determined.
    ///
    /// - Parameter path: a real path.
    func isProtected(_ path: FilePath) -> Bool {
        if let part = FilesystemPart(path, in: mounts),
            protectedParts.contains(where: { part.isIn($0) })
        {
            return true
        }
        return (Self.ancestors(of: path) + [path]).contains { path in
            status(of: path).map { isProtectedRoot($0) } ?? true
        }
    }

    func isProtectedRoot(_ status: FileStatus) -> Bool {
        protectedRoots.contains(status.identity)
            || twins[status.identity]?.contains(status.creationTime) == true
    }

    /// Returns the identity that a directory has in a snapshot of its subvolume: btrfs gives each
    /// snapshot its own device number and keeps the inode numbers.
    ///
    /// Nil for the roots of subvolumes, which all have the same inode number.
    private func snapshotTwin(
        of path: FilePath, _ status: FileStatus, on device: UInt64
    ) -> FileIdentity? {
        guard status.identity.device != device, status.identity.inode != subvolumeRoot,
            mounts.mount(holding: path)?.filesystemType == "btrfs"
        else { return nil }
        return FileIdentity(device: device, inode: status.identity.inode)
    }

    private mutating func add(pathToProtected path: FilePath) {
        if let status = status(of: path) { pathsToProtected.insert(status.identity) }
    }

    /// Returns the status of what the walk can reach: not of what does not exist, cannot be looked up
    /// or may never answer.
    private func status(of path: FilePath) -> FileStatus? {
        mounts.mayBeSilent(path) ? nil : try? path.status()
    }

    private static func ancestors(of path: FilePath) -> [FilePath] {
        var ancestors: [FilePath] = []
        var next = path
        while next.removeLastComponent() { ancestors.append(next) }
        return ancestors
    }
}

/// A set of files. Most others are told apart by a bit of their inode number.
struct IdentitySet: Sendable {
    private var files: Set<FileIdentity> = []
    private var bits = BitTable(4096)

    mutating func insert(_ file: FileIdentity) {
        files.insert(file)
        bits.insert(Int(file.inode & 4095))
    }

    func contains(_ file: FileIdentity) -> Bool {
        bits.contains(Int(file.inode & 4095)) && files.contains(file)
    }
}

/// The inode number of every btrfs subvolume's root directory.
private let subvolumeRoot: UInt64 = 256

/// The protected directories in the homes of all users.
enum OtherHomes {
    /// Returns the homes' directories for documents, settings, state and keys, by the default names
    /// and by each home's own `user-dirs.dirs`, and what its settings for backups name. Where these are
    /// there and cannot be read, it is the home.
    ///
    /// A directory outside the home counts only if it belongs to the home's owner: users cannot
    /// protect what is not theirs. Homes on remote filesystems are skipped: they may never answer,
    /// and nothing on them is purged.
    static func protectedRoots(
        _ homes: [FilePath], _ accounts: [PasswordDatabase.Account], _ mounts: MountTable
    ) -> [FilePath] {
        func isLocal(_ path: FilePath) -> Bool {
            realPath(of: path, notBeyond: mounts).map { !mounts.isRemote($0) } ?? false
        }
        let accounts = Dictionary(grouping: Set(accounts), by: \.home)
        return Set(homes).filter { isLocal($0) }.flatMap { home in
            var configured: [FilePath] = []
            for account in accounts[home, default: []] {
                do throws(Errno) {
                    configured += try Self.configured(by: account)
                } catch {
                    return [home]
                }
            }
            return (configured + names.map { home.appending($0) }).filter {
                isLocal($0) && isOwn($0, of: home)
            }
        }
    }

    /// Whether a directory, with symbolic links resolved, lies in a home or belongs to the home's
    /// owner.
    private static func isOwn(_ path: FilePath, of home: FilePath) -> Bool {
        // The walk cannot reach what does not exist or cannot be looked up.
        guard let owner = try? path.status().owner, let homeOwner = try? home.status().owner else {
            return false
        }
        // Ownership by root does not count: a home that anybody can write may belong to root, too.
        if owner != 0, owner == homeOwner { return true }
        guard let real = try? realPath(of: path), let realHome = try? realPath(of: home) else {
            return false
        }
        return real != realHome && real.isHeld(by: realHome)
    }

    private static let names =
        UserDirectories.defaultNames + [".ssh", ".gnupg", ".config", ".local/state"]

    /// Returns what the settings in a home name.
    private static func configured(
        by account: PasswordDatabase.Account
    ) throws(Errno) -> [FilePath] {
        let home = account.home
        let directories = try contents(of: ".config/user-dirs.dirs", account)
        var paths = Array(UserDirectories(contents: directories, home: home).paths.values)
        for name in try settingsNames(in: home) {
            let settings = try contents(of: FilePath(".config/resval").pushing(name), account)
            paths += BackupRepositories.withParts(
                BackupRepositories.paths(inSettings: settings, home))
        }
        return paths
    }

    /// - Throws: `EFBIG` for more files than anybody has: a user must not make root read for hours.
    private static func settingsNames(in home: FilePath) throws(Errno) -> [FilePath] {
        let opened = try absentAsNil { () throws(Errno) in
            try OpenDirectory(at: home).openBeneath(
                ".config/resval", flags: [.readOnly, .noFollow])
        }
        var names: [FilePath] = []
        guard let opened else { return names }
        var count = 0
        defer { withExtendedLifetime(opened) {} }
        try forEachEntry(inOpen: opened.descriptor) { name, _ in
            count += 1
            if count <= mostSettings, BackupRepositories.isSettings(name) {
                names.append(FilePath(bytes: name))
            }
            return count <= mostSettings
        }
        guard count <= mostSettings else { throw .fileTooLarge }
        return names
    }

    private static let mostSettings = 100

    private static func contents(
        of file: FilePath, _ account: PasswordDatabase.Account
    ) throws(Errno) -> [UInt8] {
        try absentAsNil { () throws(Errno) in
            try contentsOfFile(
                file, below: account.home, ownedBy: account.user, limit: settingsLimit)
        } ?? []
    }

    /// A link is not absent: where it leads is not looked at, and it may protect something.
    private static func absentAsNil<Result>(
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result? {
        do throws(Errno) {
            return try body()
        } catch  where error == .noSuchFileOrDirectory || error == .notDirectory {
            return nil
        }
    }
}
