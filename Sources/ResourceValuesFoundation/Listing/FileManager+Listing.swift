#if !canImport(Darwin)
import EffectiveValues
import Foundation
import SystemCalls

// Foundation's methods with keys, for this module's keys. Nothing is read ahead: each call of
// `resourceValues(forKeys:)` reads the disk, so the keys given here have no effect. Each method
// exists twice, since a literal and an optional array resolve to different overloads. The unused
// parameter gives one of them another full name, so that a reference without a call, such as
// `manager.contentsOfDirectory(at:includingPropertiesForKeys:options:)`, is not ambiguous.
//
// These methods do not use Foundation's, which repair names that are not UTF-8, so that their URLs
// lead to other files, and which return nothing for items that are not directories. Here no URL has
// an empty path or last component, which would make `directory.appendingPathComponent(name)` the
// directory itself.

extension FileManager {
    /// Returns the entries of a directory: `getdents64(2)`.
    ///
    /// URLs are absolute, as Foundation's, unless `producesRelativePathURLs` is given. A symbolic
    /// link to a directory is not followed.
    ///
    /// An entry whose name is not UTF-8 is an error, since Foundation answers `""` for the last
    /// component of a URL that leads to it. List such a directory with `FilePath`, which keeps
    /// every byte.
    ///
    /// - Parameters:
    ///   - url: the directory.
    ///   - keys: ignored, since nothing is read ahead.
    ///   - mask: only `skipsHiddenFiles` and `producesRelativePathURLs` have an effect.
    /// - Throws: `CocoaError`: `fileReadNoSuchFile`, `fileReadUnknown` (with `ENOTDIR`, for an item
    ///   that is not a directory), `fileReadNoPermission`, `fileReadInvalidFileName` (an entry that
    ///   is not UTF-8, which the description names; the underlying `FileError` has its path) and
    ///   others, with the path and the errno in `userInfo`.
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = [], _ unused: Void = ()
    ) throws -> [URL] {
        let isRelative = mask.contains(.producesRelativePathURLs)
        let skipsHidden = mask.contains(.skipsHiddenFiles)
        let listing = try DirectoryListing(ListedDirectory(url, isRelative: isRelative))
        var urls: [URL] = []
        while let item = try listing.next(skippingHidden: skipsHidden) { urls.append(item.url) }
        return urls
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
    /// URLs are absolute, as Foundation's, unless `producesRelativePathURLs` is given. Symbolic
    /// links are never followed.
    ///
    /// An entry whose name is not UTF-8 is reported to the handler and not returned, since
    /// Foundation answers `""` for the last component of a URL that leads to it; a directory with
    /// such a name is not entered. Without a handler it is skipped, as is a directory that cannot
    /// be read: pass a handler where every item counts.
    ///
    /// - Parameters:
    ///   - url: the directory.
    ///   - keys: ignored, since nothing is read ahead.
    ///   - mask: only `skipsHiddenFiles`, `skipsPackageDescendants`, `skipsSubdirectoryDescendants`
    ///     and `producesRelativePathURLs` have an effect.
    ///   - handler: receives each directory that cannot be read, and the directory of each entry
    ///     whose name is not UTF-8 (`CocoaError.fileReadInvalidFileName`, as when listing), with
    ///     the error, and returns whether to continue. Without a handler the enumeration continues.
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil, _ unused: Void = ()
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

    /// Returns the mounted volumes: `/proc/self/mountinfo`.
    ///
    /// Foundation's method returns nil as soon as one mount point is not UTF-8; this one leaves
    /// such a mount point out.
    ///
    /// - Parameters:
    ///   - keys: ignored, since nothing is read ahead.
    ///   - options: with `skipHiddenVolumes`, without filesystems such as `/proc`, which store no
    ///     files; `produceFileReferenceURLs` has no effect.
    /// - Returns: the mount points in the kernel's order; nil where `/proc` is not mounted.
    public func mountedVolumeURLs(
        includingResourceValuesForKeys keys: [URLResourceKey],
        options: VolumeEnumerationOptions = [], _ unused: Void = ()
    ) -> [URL]? {
        do throws(FileError) {
            return try MountTable.current().mounts
                .filter { !options.contains(.skipHiddenVolumes) || $0.category != .pseudo }
                .compactMap { URL(bytesOf: $0.mountPoint, isDirectory: true) }
        } catch {
            // The signature has no other way to report a failure.
            return nil
        }
    }

    /// Returns the mounted volumes, as the method with keys that are not optional does.
    @_disfavoredOverload
    public func mountedVolumeURLs(
        includingResourceValuesForKeys keys: [URLResourceKey]?,
        options: VolumeEnumerationOptions = []
    ) -> [URL]? {
        mountedVolumeURLs(includingResourceValuesForKeys: keys ?? [], options: options)
    }
}
#endif
