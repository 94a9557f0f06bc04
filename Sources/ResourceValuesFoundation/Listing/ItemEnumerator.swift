#if !canImport(Darwin)
import Foundation

/// Enumerates what is below a directory, a directory before what is in it.
///
/// A symbolic link is never followed.
final class ItemEnumerator: FileManager.DirectoryEnumerator {
    private let root: URL
    private let options: FileManager.DirectoryEnumerationOptions
    private let handler: ((URL, any Error) -> Bool)?
    /// What is left to visit of each directory on the way down, the next one last.
    private var levels: [[ListedItem]] = []
    /// The directory to look into next, unless its descendants are skipped.
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

    /// How deep the item returned last lies; 1 for the items of the directory itself.
    override var level: Int { lastLevel }

    /// Leaves out what is in the directory returned last.
    override func skipDescendants() { next = nil }

    /// The next item's URL; nil at the end.
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
            // Without a handler the enumeration goes on, as Foundation's does.
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
