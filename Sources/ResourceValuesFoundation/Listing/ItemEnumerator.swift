#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// An enumerator of the items below a directory, each directory before its entries.
///
/// Symbolic links are never followed.
final class ItemEnumerator: FileManager.DirectoryEnumerator {
    private let root: URL
    private let options: FileManager.DirectoryEnumerationOptions
    private let handler: ((URL, any Error) -> Bool)?
    /// The entries still to visit in each directory on the way down, in reverse order.
    private var levels: [[ListedItem]] = []
    /// The directory to read next, unless its descendants are skipped.
    private var next: URL?
    private var isStopped = false
    private var lastLevel = 0

    init(
        _ root: URL, _ options: FileManager.DirectoryEnumerationOptions,
        _ handler: ((URL, any Error) -> Bool)?
    ) {
        self.root = root
        self.options = options
        self.handler = handler
        next = root
    }

    /// The depth of the item returned last; 1 for the entries of the root directory.
    override var level: Int { lastLevel }

    /// Skips the contents of the directory returned last.
    override func skipDescendants() { next = nil }

    /// Returns the next item's URL; nil at the end.
    override func nextObject() -> Any? {
        if let directory = next {
            next = nil
            enter(directory)
        }
        guard !isStopped else { return nil }
        while let level = levels.indices.last {
            guard let item = levels[level].popLast() else {
                levels.removeLast()
                continue
            }
            if options.contains(.skipsHiddenFiles) && item.isHidden { continue }
            lastLevel = level + 1
            if isEntered(item) { next = item.url }
            return options.contains(.producesRelativePathURLs)
                ? item.url.relative(to: root) : item.url
        }
        return nil
    }

    private func enter(_ directory: URL) {
        do {
            levels.append(try ListedItem.all(in: directory).reversed())
        } catch {
            // Without a handler the enumeration continues, as Foundation's does.
            isStopped = handler.map { !$0(directory, error) } ?? false
        }
    }

    private func isEntered(_ item: ListedItem) -> Bool {
        guard item.isDirectory, !options.contains(.skipsSubdirectoryDescendants) else {
            return false
        }
        return !options.contains(.skipsPackageDescendants) || !item.isPackage
    }
}

/// An entry of a directory with its URL, whatever bytes its name contains.
struct ListedItem {
    let url: URL
    let isDirectory: Bool
    let isHidden: Bool

    /// Returns the entries of a directory, in the filesystem's order.
    ///
    /// Symbolic links are not followed, and so are never directories.
    ///
    /// - Throws: `CocoaError` when the directory cannot be opened or read.
    static func all(in directory: URL) throws -> [ListedItem] {
        do {
            return try directory.withItem { target in
                var entries: [(name: [UInt8], isDirectory: Bool?)] = []
                try forEachEntry(in: target) { name, isDirectory in
                    entries.append((name, isDirectory))
                    return true
                }
                return try entries.map { try ListedItem($0.name, $0.isDirectory, in: directory) }
            }
        } catch {
            throw CocoaError(error, directory, .reading)
        }
    }

    private init(_ name: [UInt8], _ isDirectory: Bool?, in directory: URL) throws {
        // The item itself is read only if the filesystem does not report the kind.
        self.isDirectory =
            try isDirectory
            ?? directory.appending(name, isDirectory: false)
            .resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false
        isHidden = name.first == UInt8(ascii: ".")
        url = directory.appending(name, isDirectory: self.isDirectory)
    }
}

extension ListedItem {
    fileprivate var isPackage: Bool {
        isDirectory && packageExtensions.contains(url.pathExtension.lowercased())
    }
}

extension URL {
    /// Returns the URL of an entry of the directory.
    fileprivate func appending(_ name: [UInt8], isDirectory: Bool) -> URL {
        if let text = String(validating: name, as: UTF8.self) {
            return appendingPathComponent(text, isDirectory: isDirectory)
        }
        // Always valid, since the name is fully escaped; the fallback is unreachable.
        let base = absoluteString.hasSuffix("/") ? absoluteString : absoluteString + "/"
        return URL(string: base + name.percentEscaped + (isDirectory ? "/" : "")) ?? self
    }

    /// Returns the same URL relative to a directory above it; the URL itself when it is not below.
    func relative(to directory: URL) -> URL {
        let text = directory.absoluteString
        let base = text.hasSuffix("/") ? text : text + "/"
        guard absoluteString.hasPrefix(base), let baseURL = URL(string: base) else { return self }
        return URL(string: String(absoluteString.dropFirst(base.count)), relativeTo: baseURL)
            ?? self
    }
}
#endif
