#if !canImport(Darwin)
import Foundation

/// An enumerator of the items below a directory, each directory before its entries.
///
/// Symbolic links are never followed.
final class ItemEnumerator: FileManager.DirectoryEnumerator {
    private let root: URL
    private let options: FileManager.DirectoryEnumerationOptions
    private let skipsHidden: Bool
    private let handler: ((URL, any Error) -> Bool)?
    /// The directories on the way down, with the entries still to visit.
    private var levels: [DirectoryListing] = []
    /// The directory to read next, unless its descendants are skipped.
    private var next: ListedDirectory?
    /// Why the URL of the root leads to no directory, until it was reported.
    private var rootError: (any Error)?
    private var isStopped = false
    private var lastLevel = 0

    init(
        _ root: URL, _ options: FileManager.DirectoryEnumerationOptions,
        _ handler: ((URL, any Error) -> Bool)?
    ) {
        self.root = root
        self.options = options
        skipsHidden = options.contains(.skipsHiddenFiles)
        self.handler = handler
        do {
            let isRelative = options.contains(.producesRelativePathURLs)
            next = try ListedDirectory(root, isRelative: isRelative)
        } catch {
            rootError = error
        }
    }

    /// The depth of the item returned last; 1 for the entries of the root directory.
    override var level: Int { lastLevel }

    /// Always nil, as in Foundation for enumerators of URLs: read values from the URL.
    override var fileAttributes: [FileAttributeKey: Any]? { nil }

    /// Always nil, as ``fileAttributes``.
    override var directoryAttributes: [FileAttributeKey: Any]? { nil }

    /// Skips the contents of the directory returned last.
    override func skipDescendants() {
        if lastLevel > 0 { next = nil }
    }

    /// Returns the next item's URL; nil at the end.
    override func nextObject() -> Any? {
        if let error = rootError {
            rootError = nil
            report(error, at: root)
        }
        if let directory = next {
            next = nil
            enter(directory)
        }
        while !isStopped, let listing = levels.last {
            do {
                guard let item = try listing.next(skippingHidden: skipsHidden) else {
                    levels.removeLast()
                    continue
                }
                lastLevel = levels.count
                if item.isDirectory && isEntered(item) { next = listing.lastDirectory(item) }
                return item.url
            } catch {
                report(error, at: listing.directory.url)
            }
        }
        return nil
    }

    private func enter(_ directory: ListedDirectory) {
        do {
            levels.append(try DirectoryListing(directory))
        } catch {
            report(error, at: directory.url)
        }
    }

    /// Calls the handler. Without one the enumeration continues, as Foundation's does.
    private func report(_ error: any Error, at url: URL) {
        if let handler { isStopped = !handler(url, error) }
    }

    private func isEntered(_ item: ListedItem) -> Bool {
        guard !options.contains(.skipsSubdirectoryDescendants) else { return false }
        return !options.contains(.skipsPackageDescendants) || !item.isPackage
    }
}
#endif
