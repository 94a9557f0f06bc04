#if !canImport(Darwin)
import Foundation

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
