#if !canImport(Darwin)
import Foundation

// Foundation's methods that take keys, for this module's keys. Nothing is read ahead: each call of
// `resourceValues(forKeys:)` reads the disk, so the keys given here make no difference. Each method
// comes twice, since a literal and an optional array find different overloads.

extension FileManager {
    /// The items of a directory, as Foundation's method of the same name lists them.
    ///
    /// - Parameter keys: makes no difference: nothing is read ahead.
    /// - Throws: as Foundation's method.
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] {
        try contentsOfDirectory(at: url, includingPropertiesForKeys: noKeys, options: mask)
    }

    /// The items of a directory, as Foundation's method of the same name lists them.
    @_disfavoredOverload
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] {
        try contentsOfDirectory(at: url, includingPropertiesForKeys: noKeys, options: mask)
    }

    /// The items below a directory, as Foundation's method of the same name enumerates them.
    ///
    /// - Parameter keys: makes no difference: nothing is read ahead.
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey],
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? {
        enumerator(
            at: url, includingPropertiesForKeys: noKeys, options: mask, errorHandler: handler)
    }

    /// The items below a directory, as Foundation's method of the same name enumerates them.
    @_disfavoredOverload
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? {
        enumerator(
            at: url, includingPropertiesForKeys: noKeys, options: mask, errorHandler: handler)
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
