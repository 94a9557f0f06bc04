import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

extension StorageLocation {
    /// Returns the user's location of a kind, as determined by the environment, `/etc/passwd` and
    /// `user-dirs.dirs`.
    ///
    /// It need not exist: see ``make()``. Variables that would make a home disposable are ignored,
    /// as everywhere in this package: a `$TMPDIR` outside `/tmp` and `/var/tmp` is replaced by
    /// `/tmp`, and an `$XDG_CACHE_HOME` outside the home by `~/.cache`.
    ///
    /// - Throws: `FileError` `other` when the location is in the home and the home is unknown.
    public static func current(_ kind: Kind) throws(FileError) -> StorageLocation {
        try location(kind, in: .current())
    }

    package static func location(
        _ kind: Kind, in environment: PolicyEnvironment
    ) throws(FileError) -> StorageLocation {
        let base = environment.base
        switch kind {
        case .temporary:
            let setting = base.temporaryDirectory?.path
            return environment.accepted(kind, setting) ?? StorageLocation(kind: kind, path: "/tmp")
        case .caches:
            let usual = try base.home.orNoHome().appending(".cache")
            return environment.accepted(kind, base.cacheHome?.path)
                ?? StorageLocation(kind: kind, path: usual)
        case .applicationSupport:
            return StorageLocation(kind: kind, path: try (base.dataHome?.path).orNoHome())
        case .documents:
            let home = try base.home.orNoHome()
            let directories = UserDirectories(contents: try settings(base), home: home)
            return StorageLocation(
                kind: kind,
                path: directories.paths["XDG_DOCUMENTS_DIR"] ?? home.appending("Documents"))
        }
    }

    /// Returns the contents of `user-dirs.dirs`; empty when the file does not exist.
    private static func settings(_ base: BaseDirectories) throws(FileError) -> [UInt8] {
        guard let directory = base.configurationHome?.path else { return [] }
        let file = directory.appending("user-dirs.dirs")
        do throws(FileError) {
            return try contentsOfFile(file, limit: settingsLimit)
        } catch  where error.code == .noSuchFile || error.code == .notADirectory {
            return []
        }
    }
}

extension PolicyEnvironment {
    /// Returns a setting as a location; nil when the rules about locations reject it.
    fileprivate func accepted(
        _ kind: StorageLocation.Kind, _ setting: FilePath?
    ) -> StorageLocation? {
        guard let setting, accepts(setting, as: kind) else { return nil }
        return StorageLocation(kind: kind, path: setting)
    }
}

extension FilePath? {
    fileprivate func orNoHome() throws(FileError) -> FilePath {
        guard let path = self else {
            throw FileError(code: .other, message: "no home is known", advice: "set HOME")
        }
        return path
    }
}

extension StorageLocation {
    /// Creates the directory if it does not exist: `mkdirat(2)`, with mode 0700 less the process's
    /// umask, for the directory and for each missing directory above it; then checks what exists.
    ///
    /// Several programs may do this at once.
    ///
    /// - Returns: the directory's path.
    /// - Throws: `FileError`: `notADirectory` when the name belongs to another kind of item;
    ///   `permissionDenied` when the directory belongs to another user (except for a temporary
    ///   location, which all users share), or when users outside this user's own group can write to
    ///   a location of caches or application support, and so replace what is stored there; and the
    ///   errors of creating directories.
    @discardableResult
    public func make() throws(FileError) -> FilePath {
        try makeDirectories(path)
        try check(path, isShared: kind == .temporary)
        return path
    }

    /// Creates a program's own directory in the location, as ``make()`` does. Even in a temporary
    /// location, the directory must belong to this user, and users outside this user's own group
    /// must not be able to write to it.
    ///
    /// - Parameter name: the directory's name, such as the program's: one component.
    /// - Returns: the directory's path.
    /// - Throws: as ``make()``; `other` when the name is not a single component.
    @discardableResult
    public func makeDirectory(named name: String) throws(FileError) -> FilePath {
        guard let component = FilePath.Component(name), component.kind == .regular else {
            throw FileError(code: .other, message: "'\(name)' is not a name of a directory")
        }
        let directory = try make().appending(component)
        do throws(Errno) {
            try SystemCalls.makeDirectory(
                directory, in: .workingDirectory, permissions: 0o700)
        } catch .fileExists {
            // The owner is checked below.
        } catch {
            throw FileError(error, of: directory)
        }
        try check(directory, isShared: false, followsLink: kind != .temporary)
        return directory
    }

    private func check(
        _ directory: FilePath, isShared: Bool, followsLink: Bool = true
    ) throws(FileError) {
        let status =
            try followsLink
            ? directory.fileStatus() : directory.withoutFollowing.fileStatus()
        guard status.kind == .directory else {
            throw FileError(
                code: .notADirectory, message: "is not a directory", path: directory)
        }
        if isShared { return }
        guard status.owner == effectiveUser() else {
            throw FileError(
                code: .permissionDenied, message: "belongs to another user", path: directory)
        }
        // A user's own group may write, on systems where each user has one.
        let others: UInt16 = status.group == effectiveGroup() ? 0o002 : 0o022
        guard kind == .documents || status.permissions & others == 0 else {
            throw FileError(
                code: .permissionDenied, message: "users other than its owner can write to it",
                advice: "chmod go-w", path: directory)
        }
    }
}
