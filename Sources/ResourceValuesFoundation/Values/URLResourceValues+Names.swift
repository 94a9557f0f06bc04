#if !canImport(Darwin)
import Foundation

// Properties: names and places.

extension URLResourceValues {
    /// The last component of the URL's path; `/` for the root directory.
    ///
    /// nil when the name is not UTF-8. Setting it renames the item within its directory (`renameat2(2)`
    /// with `RENAME_NOREPLACE`); the URL keeps the old name.
    public var name: String? {
        get { text(.name) }
        set { assign(newValue.map { .text($0) }, to: .name) }
    }

    /// The name for people: the same as ``name``, since Linux translates no file names.
    ///
    /// nil when the name is not UTF-8.
    public var localizedName: String? { text(.localizedName) }

    /// The URL's path, absolute, without percent escapes.
    ///
    /// nil when the path is not UTF-8.
    public var path: String? { text(.path) }

    /// The path without symbolic links, `.` and `..`; a symbolic link at its end stays itself.
    ///
    /// nil when that path is not UTF-8.
    public var canonicalPath: String? { text(.canonicalPath) }

    /// The directory that contains the item, by its path.
    ///
    /// nil for the root directory, and when that path is not UTF-8.
    public var parentDirectory: URL? { object(.parentDirectoryURL) }

    /// Where the volume is mounted: the mount point of the mount that `statx(2)` names, in
    /// `/proc/self/mountinfo`.
    ///
    /// nil where `/proc` is not mounted, before Linux 5.8, and when that path is not UTF-8.
    public var volume: URL? { object(.volumeURL) }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/name``.
    public static let nameKey = URLResourceKey(.name)
    /// The key of ``URLResourceValues/localizedName``.
    public static let localizedNameKey = URLResourceKey(.localizedName)
    /// The key of ``URLResourceValues/path``.
    public static let pathKey = URLResourceKey(.path)
    /// The key of ``URLResourceValues/canonicalPath``.
    public static let canonicalPathKey = URLResourceKey(.canonicalPath)
    /// The key of ``URLResourceValues/parentDirectory``.
    public static let parentDirectoryURLKey = URLResourceKey(.parentDirectoryURL)
    /// The key of ``URLResourceValues/volume``.
    public static let volumeURLKey = URLResourceKey(.volumeURL)
}
#endif
