#if !canImport(Darwin)
import Foundation

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

extension ListedItem {
    fileprivate var isPackage: Bool {
        isDirectory && packageExtensions.contains(url.pathExtension.lowercased())
    }
}
#endif
