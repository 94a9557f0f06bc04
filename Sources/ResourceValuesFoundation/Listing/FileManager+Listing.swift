#if !canImport(Darwin)
import Foundation

// Foundation's methods that take keys, for this module's keys. Nothing is read ahead: each call of
// `resourceValues(forKeys:)` reads the disk, so the keys given here make no difference. Each method
// comes twice, since a literal and an optional array find different overloads.
//
// They list for themselves, because Foundation's methods repair names that are not UTF-8, so that their
// URLs lead to other files, and answer nothing for what is no directory.

extension FileManager {
    /// The items of a directory: `getdents64(2)`.
    ///
    /// A name that is not UTF-8 is in its URL by its percent escapes. A symbolic link to a directory is
    /// not followed.
    ///
    /// - Parameters:
    ///   - url: the directory.
    ///   - keys: makes no difference: nothing is read ahead.
    ///   - mask: `skipsHiddenFiles` and `producesRelativePathURLs` count.
    /// - Throws: `CocoaError`: `fileReadNoSuchFile` (also for what is no directory),
    ///   `fileReadNoPermission` and others, with the path and the errno in `userInfo`.
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] {
        try ListedItem.all(in: url)
            .filter { !mask.contains(.skipsHiddenFiles) || !$0.isHidden }
            .map { mask.contains(.producesRelativePathURLs) ? $0.url.relative(to: url) : $0.url }
    }

    /// The items of a directory, as the method does that takes keys which are not optional.
    @_disfavoredOverload
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] {
        try contentsOfDirectory(at: url, includingPropertiesForKeys: keys ?? [], options: mask)
    }

    /// The items of a directory, as the method does that takes options.
    ///
    /// Without options, a literal nil comes here. With options it goes to Foundation's own method; an
    /// empty array comes to this module's.
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?
    ) throws -> [URL] {
        try contentsOfDirectory(at: url, includingPropertiesForKeys: keys ?? [])
    }

    /// Enumerates what is below a directory, a directory before what is in it.
    ///
    /// A name that is not UTF-8 is in its URL by its percent escapes. A symbolic link is never followed.
    ///
    /// - Parameters:
    ///   - url: the directory.
    ///   - keys: makes no difference: nothing is read ahead.
    ///   - mask: `skipsHiddenFiles`, `skipsPackageDescendants`, `skipsSubdirectoryDescendants` and
    ///     `producesRelativePathURLs` count.
    ///   - handler: is told of each directory that cannot be read, and returns whether to go on.
    ///     Without one the enumeration goes on.
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? {
        ItemEnumerator(url, mask, handler)
    }

    /// Enumerates what is below a directory, as the method does that takes keys which are not
    /// optional.
    @_disfavoredOverload
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? {
        ItemEnumerator(url, mask, handler)
    }

    /// Enumerates what is below a directory, as the method does that takes options.
    ///
    /// Without options, a literal nil comes here. With options it goes to Foundation's own method; an
    /// empty array comes to this module's.
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?
    ) -> DirectoryEnumerator? {
        ItemEnumerator(url, [], nil)
    }

    /// The mounted volumes, as Foundation's method of the same name lists them.
    ///
    /// - Parameter keys: makes no difference: nothing is read ahead.
    public func mountedVolumeURLs(
        includingResourceValuesForKeys keys: [URLResourceKey],
        options: VolumeEnumerationOptions = []
    ) -> [URL]? {
        mountedVolumeURLs(includingResourceValuesForKeys: noKeys, options: options)
    }

    /// The mounted volumes, as Foundation's method of the same name lists them.
    @_disfavoredOverload
    public func mountedVolumeURLs(
        includingResourceValuesForKeys keys: [URLResourceKey]?,
        options: VolumeEnumerationOptions = []
    ) -> [URL]? {
        mountedVolumeURLs(includingResourceValuesForKeys: noKeys, options: options)
    }
}

/// Typed, so that a call with it is Foundation's own method.
private let noKeys: [Foundation.URLResourceKey]? = nil
#endif
