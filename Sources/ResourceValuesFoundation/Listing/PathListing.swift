#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

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
            do throws(Errno) {
                try forEachName(in: directory) { bytes in
                    if let name = String(validating: bytes, as: UTF8.self) {
                        names.append(name)
                    } else {
                        other = bytes
                    }
                    return other == nil
                }
            } catch {
                throw FileError(error, of: directory)
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
