import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

extension StorageLocation {
    /// The user's location of a kind, as the environment, `/etc/passwd` and `user-dirs.dirs` tell.
    ///
    /// It need not exist: see ``make()``. Variables that would make a home disposable are ignored,
    /// as everywhere in this package: a `$TMPDIR` that is not inside `/tmp` or `/var/tmp` gives way
    /// to `/tmp`, and an `$XDG_CACHE_HOME` outside the home to `~/.cache`.
    ///
    /// - Throws: `FileError` `other` when no home is known for a location that lies in it.
    public static func current(_ kind: Kind) throws(FileError) -> StorageLocation {
        try location(kind, in: .current())
    }

    /// The user's location for data of a purpose; see ``current(_:)``.
    ///
    /// - Throws: `FileError` `other` when no home is known for a location that lies in it.
    public static func current(for purpose: DataPurpose) throws(FileError) -> StorageLocation {
        try current(purpose.location)
    }

    /// The location of a kind in an environment.
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

    /// The content of `user-dirs.dirs`; empty where there is none.
    private static func settings(_ base: BaseDirectories) throws(FileError) -> [UInt8] {
        guard let directory = base.configurationHome?.path else { return [] }
        let file = directory.appending("user-dirs.dirs")
        do throws(Errno) {
            return try contentsOfFile(file, limit: settingsLimit)
        } catch .noSuchFileOrDirectory, .notDirectory {
            return []
        } catch {
            throw .opening(error, file)
        }
    }
}

extension PolicyEnvironment {
    /// A setting as a location, if the rules about locations accept it.
    fileprivate func accepted(
        _ kind: StorageLocation.Kind, _ setting: FilePath?
    ) -> StorageLocation? {
        guard let setting else { return nil }
        let real = existingRealPath(of: setting)
        let isAccepted = locations.locations.contains { $0.kind == kind && $0.path == real }
        return isAccepted ? StorageLocation(kind: kind, path: setting) : nil
    }
}

/// The real path of a directory that exists; of any other, the path itself without detours.
func existingRealPath(of path: FilePath) -> FilePath {
    do throws(FileError) {
        return try realPath(of: path)
    } catch {
        return path.lexicallyNormalized()
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
