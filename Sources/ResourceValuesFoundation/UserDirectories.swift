#if !canImport(Darwin)
import EffectiveValues
import Foundation
import StoragePolicy
import SystemCalls
import SystemPackage

// The user's directories that Foundation on Linux has no properties for. They need not exist.

extension URL {
    /// The user's programs: `applications` in `$XDG_DATA_HOME`, by default
    /// `~/.local/share/applications`, where desktops look for the entries of their menus.
    public static var applicationDirectory: URL {
        UserDirectoryFinder().url(
            below: \.dataHome, "applications", or: ".local/share/applications")
    }

    /// The data of programs: `$XDG_DATA_HOME`, by default `~/.local/share`. It is backed up.
    public static var applicationSupportDirectory: URL {
        UserDirectoryFinder().url(below: \.dataHome, or: ".local/share")
    }

    /// Data that programs can make again: `$XDG_CACHE_HOME`, by default `~/.cache`.
    ///
    /// It is not backed up, and is deleted when space is short. A setting that backups and purges do
    /// not accept as a location for caches, such as one outside the home, is ignored here too, as in
    /// `StorageLocation.current(_:)`.
    public static var cachesDirectory: URL { UserDirectoryFinder().caches }

    /// The desktop: `XDG_DESKTOP_DIR` in `user-dirs.dirs`, by default `~/Desktop`.
    public static var desktopDirectory: URL { ofUser("DESKTOP", or: "Desktop") }

    /// The user's documents: `XDG_DOCUMENTS_DIR` in `user-dirs.dirs`, by default `~/Documents`. They
    /// are backed up, and never purged.
    public static var documentsDirectory: URL { ofUser("DOCUMENTS", or: "Documents") }

    /// Downloaded files: `XDG_DOWNLOAD_DIR` in `user-dirs.dirs`, by default `~/Downloads`.
    public static var downloadsDirectory: URL { ofUser("DOWNLOAD", or: "Downloads") }

    /// What programs store for the user: the same as ``applicationSupportDirectory``, since Linux
    /// has no directory around those for data, caches and settings.
    public static var libraryDirectory: URL { applicationSupportDirectory }

    /// Videos: `XDG_VIDEOS_DIR` in `user-dirs.dirs`, by default `~/Videos`.
    public static var moviesDirectory: URL { ofUser("VIDEOS", or: "Videos") }

    /// Music: `XDG_MUSIC_DIR` in `user-dirs.dirs`, by default `~/Music`.
    public static var musicDirectory: URL { ofUser("MUSIC", or: "Music") }

    /// Pictures: `XDG_PICTURES_DIR` in `user-dirs.dirs`, by default `~/Pictures`.
    public static var picturesDirectory: URL { ofUser("PICTURES", or: "Pictures") }

    /// What the user shares with others: `XDG_PUBLICSHARE_DIR` in `user-dirs.dirs`, by default
    /// `~/Public`.
    public static var sharedPublicDirectory: URL { ofUser("PUBLICSHARE", or: "Public") }

    /// The items in the user's trash: `Trash/files` in `$XDG_DATA_HOME`, by default
    /// `~/.local/share/Trash/files`.
    ///
    /// Desktops show an item there only if `Trash/info` says where it came from; `gio trash` does
    /// both.
    public static var trashDirectory: URL {
        UserDirectoryFinder().url(below: \.dataHome, "Trash/files", or: ".local/share/Trash/files")
    }

    /// The directory of the users' homes: `/home`.
    public static var userDirectory: URL { URL(filePath: "/home/", directoryHint: .isDirectory) }

    private static func ofUser(_ name: String, or standard: String) -> URL {
        UserDirectoryFinder().url(named: name, or: standard)
    }
}

extension BaseDirectories {
    /// The directories in `user-dirs.dirs` by their variables; empty without the file and when it
    /// cannot be read, where the names by default apply.
    var userDirectories: [String: FilePath] {
        guard let home, let configuration = configurationHome?.path else { return [:] }
        let file = configuration.appending("user-dirs.dirs")
        let contents = (try? contentsOfFile(file, limit: settingsLimit)) ?? []
        return UserDirectories(contents: contents, home: home).paths
    }
}

/// Finds the user's directories from the environment, `/etc/passwd` and `user-dirs.dirs`, which are
/// read anew for each property.
///
/// A directory whose path is not UTF-8 is replaced by the one by default.
private struct UserDirectoryFinder {
    private let base = currentBaseDirectories()

    func url(
        below setting: KeyPath<BaseDirectories, BaseDirectories.Setting?>, _ path: FilePath = "",
        or standard: String
    ) -> URL {
        url(base[keyPath: setting]?.path.pushing(path), or: standard)
    }

    func url(named name: String, or standard: String) -> URL {
        url(base.userDirectories["XDG_\(name)_DIR"], or: standard)
    }

    var caches: URL {
        guard let setting = base.cacheHome, setting.isFromEnvironment,
            PolicyEnvironment.current().accepts(setting.path, as: .caches)
        else { return url(nil, or: ".cache") }
        return url(setting.path, or: ".cache")
    }

    private func url(_ path: FilePath?, or standard: String) -> URL {
        if let url = path.flatMap({ URL(bytesOf: $0, isDirectory: true) }) { return url }
        let home = base.home.flatMap { URL(bytesOf: $0, isDirectory: true) } ?? .homeDirectory
        return home.appending(path: standard, directoryHint: .isDirectory)
    }
}

// Foundation's answers are wrong where `user-dirs.dirs` is as desktops write it, and empty for some
// directories that a user has.

extension FileManager {
    /// Returns directories as Foundation's `urls(for:in:)` does, but those of the user as the
    /// properties of `URL` do, such as ``Foundation/URL/documentsDirectory``.
    package func searchURLs(
        for directory: SearchPathDirectory, in domains: SearchPathDomainMask
    ) -> [URL] {
        guard domains.contains(.userDomainMask), let own = directory.ofUser else {
            return urls(for: directory, in: domains)
        }
        return [own] + urls(for: directory, in: domains.subtracting(.userDomainMask))
    }

    /// Returns a directory as ``searchURLs(for:in:)`` does, and creates it if that is wanted, for its
    /// owner alone, as Foundation does.
    package func searchURL(
        for directory: SearchPathDirectory, in domain: SearchPathDomainMask,
        appropriateFor url: URL?, create shouldCreate: Bool
    ) throws -> URL {
        guard domain.contains(.userDomainMask), let own = directory.ofUser else {
            return try self.url(
                for: directory, in: domain, appropriateFor: url, create: shouldCreate)
        }
        if shouldCreate {
            try createMarkedDirectory(
                at: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        return own
    }
}

extension FileManager.SearchPathDirectory {
    /// The directory of this kind in the user's home; nil for other kinds.
    fileprivate var ofUser: URL? {
        switch self {
        case .applicationDirectory: .applicationDirectory
        case .applicationSupportDirectory: .applicationSupportDirectory
        case .cachesDirectory: .cachesDirectory
        case .desktopDirectory: .desktopDirectory
        case .documentDirectory: .documentsDirectory
        case .downloadsDirectory: .downloadsDirectory
        case .libraryDirectory: .libraryDirectory
        case .moviesDirectory: .moviesDirectory
        case .musicDirectory: .musicDirectory
        case .picturesDirectory: .picturesDirectory
        case .sharedPublicDirectory: .sharedPublicDirectory
        case .trashDirectory: .trashDirectory
        default: nil
        }
    }
}
#endif
