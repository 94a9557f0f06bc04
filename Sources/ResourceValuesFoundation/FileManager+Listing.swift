#if !canImport(Darwin)
import EffectiveValues
import Foundation
import SystemCalls
import SystemPackage

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
        let listing = try DirectoryListing(EnumeratedDirectory(url, isRelative: isRelative))
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
        // The signature has no other way to report a failure.
        try? MountTable.current().mounts
            .filter { !options.contains(.skipHiddenVolumes) || $0.category != .pseudo }
            .compactMap { URL(bytesOf: $0.mountPoint, isDirectory: true) }
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

// Listings in paths instead of URLs. Foundation's repair names that are not UTF-8, and so return paths
// of other items.

extension FileManager {
    /// Returns the names of the entries of a directory. A symbolic link to it is followed, as in
    /// Foundation.
    ///
    /// - Throws: `CocoaError`, as `contentsOfDirectory(at:)`: `fileReadInvalidFileName` for an entry
    ///   whose name is not UTF-8.
    package func entryNames(atPath path: String) throws -> [String] {
        let url = try URL(atPath: path, .reading)
        return try url.operate(.reading) { directory in
            var names: [String] = []
            var other: [UInt8]?
            try calls(on: directory) { () throws(Errno) in
                try forEachName(in: directory) { bytes in
                    if let name = String(validating: bytes, as: UTF8.self) {
                        names.append(name)
                    } else {
                        other = bytes
                    }
                    return other == nil
                }
            }
            if let other {
                throw FileError(notUTF8: directory.pushing(FilePath(bytes: other)))
            }
            return names
        }
    }

    /// Returns the relative paths of all items below a directory; none for another item, which
    /// includes a symbolic link.
    ///
    /// - Throws: `CocoaError`, as ``entryNames(atPath:)``, also for a directory further down.
    package func pathsBelow(_ path: String) throws -> [String] {
        let url = try URL(atPath: path, .reading)
        let kind = try url.operate(.reading) { try $0.withoutFollowing.fileStatus().kind }
        guard kind == .directory else { return [] }
        var failure: (any Error)?
        let items = PathEnumerator(url) { _, error in
            failure = error
            return false
        }
        let paths = items.compactMap { $0 as? String }
        if let failure { throw failure }
        return paths
    }

    /// Enumerates the relative paths of the items below a directory. Entries whose names are not
    /// UTF-8 are skipped, and so are directories that cannot be read.
    package func pathEnumerator(atPath path: String) -> DirectoryEnumerator? {
        (try? URL(atPath: path, .reading)).map { PathEnumerator($0, nil) }
    }
}

/// An enumerator of the relative paths of the items below a directory.
private final class PathEnumerator: FileManager.DirectoryEnumerator {
    private let root: URL
    private let items: ItemEnumerator
    private var last: URL?

    init(_ root: URL, _ handler: ((URL, any Error) -> Bool)?) {
        self.root = root
        items = ItemEnumerator(root, .producesRelativePathURLs, handler)
    }

    override var level: Int { items.level }

    /// The attributes of the item returned last.
    override var fileAttributes: [FileAttributeKey: Any]? { last.flatMap(attributes) }

    /// The attributes of the directory that is enumerated.
    override var directoryAttributes: [FileAttributeKey: Any]? { attributes(root) }

    override func skipDescendants() { items.skipDescendants() }

    override func nextObject() -> Any? {
        last = items.nextObject() as? URL
        return last?.relativePath
    }

    private func attributes(_ url: URL) -> [FileAttributeKey: Any]? {
        try? FileManager.default.allAttributesOfItem(atPath: url.path)
    }
}
#endif
