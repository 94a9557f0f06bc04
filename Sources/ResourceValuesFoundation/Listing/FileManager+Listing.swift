#if !canImport(Darwin)
import Foundation

// Foundation's methods with keys, for this module's keys. Nothing is read ahead: each call of
// `resourceValues(forKeys:)` reads the disk, so the keys given here have no effect. Each method
// exists twice, since a literal and an optional array resolve to different overloads.
//
// These methods do not use Foundation's, which repair names that are not UTF-8, so that their URLs
// lead to other files, and which return nothing for items that are not directories.

extension FileManager {
    /// Returns the entries of a directory: `getdents64(2)`.
    ///
    /// Names that are not UTF-8 are percent-escaped in the URL. A symbolic link to a directory is
    /// not followed.
    ///
    /// - Parameters:
    ///   - url: the directory.
    ///   - keys: ignored, since nothing is read ahead.
    ///   - mask: only `skipsHiddenFiles` and `producesRelativePathURLs` have an effect.
    /// - Throws: `CocoaError`: `fileReadNoSuchFile` (also for items that are not directories),
    ///   `fileReadNoPermission` and others, with the path and the errno in `userInfo`.
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] {
        try ListedItem.all(in: url)
            .filter { !mask.contains(.skipsHiddenFiles) || !$0.isHidden }
            .map { mask.contains(.producesRelativePathURLs) ? $0.url.relative(to: url) : $0.url }
    }

    /// Returns the entries of a directory, as the method with keys that are not optional does.
    @_disfavoredOverload
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] {
        try contentsOfDirectory(at: url, includingPropertiesForKeys: keys ?? [], options: mask)
    }

    /// Returns the entries of a directory, as the method with options does.
    ///
    /// A call with a literal nil and without options resolves to this method. With options, a
    /// literal nil resolves to Foundation's own method, and an empty array to this module's.
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?
    ) throws -> [URL] {
        try contentsOfDirectory(at: url, includingPropertiesForKeys: keys ?? [])
    }

    /// Enumerates the items below a directory, each directory before its entries.
    ///
    /// Names that are not UTF-8 are percent-escaped in the URL. Symbolic links are never followed.
    ///
    /// - Parameters:
    ///   - url: the directory.
    ///   - keys: ignored, since nothing is read ahead.
    ///   - mask: only `skipsHiddenFiles`, `skipsPackageDescendants`, `skipsSubdirectoryDescendants`
    ///     and `producesRelativePathURLs` have an effect.
    ///   - handler: receives each directory that cannot be read, with the error, and returns
    ///     whether to continue. Without a handler the enumeration continues.
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? {
        ItemEnumerator(url, mask, handler)
    }

    /// Enumerates the items below a directory, as the method with keys that are not optional does.
    @_disfavoredOverload
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? {
        ItemEnumerator(url, mask, handler)
    }

    /// Enumerates the items below a directory, as the method with options does.
    ///
    /// A call with a literal nil and without options resolves to this method. With options, a
    /// literal nil resolves to Foundation's own method, and an empty array to this module's.
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?
    ) -> DirectoryEnumerator? {
        ItemEnumerator(url, [], nil)
    }

    /// Returns the mounted volumes, as Foundation's method of the same name does.
    ///
    /// - Parameter keys: ignored, since nothing is read ahead.
    public func mountedVolumeURLs(
        includingResourceValuesForKeys keys: [URLResourceKey],
        options: VolumeEnumerationOptions = []
    ) -> [URL]? {
        mountedVolumeURLs(includingResourceValuesForKeys: noKeys, options: options)
    }

    /// Returns the mounted volumes, as Foundation's method of the same name does.
    @_disfavoredOverload
    public func mountedVolumeURLs(
        includingResourceValuesForKeys keys: [URLResourceKey]?,
        options: VolumeEnumerationOptions = []
    ) -> [URL]? {
        mountedVolumeURLs(includingResourceValuesForKeys: noKeys, options: options)
    }
}

/// Typed, so that a call with these keys resolves to Foundation's own method.
private let noKeys: [Foundation.URLResourceKey]? = nil
#endif
