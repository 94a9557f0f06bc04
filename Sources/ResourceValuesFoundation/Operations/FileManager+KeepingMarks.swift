#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Copies an item with its marks, which Foundation's `copyItem` loses for regular files.
    ///
    /// Blocks are shared where the filesystem can. The copy appears complete or not at all, and never
    /// in place of another item. The delegate is asked about each item; errors end the copy.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `fileWriteFileExists`, `featureUnsupported` (an item
    ///   that is no file, directory or link, or a filesystem that cannot hold the marks),
    ///   `fileWriteOutOfSpace` and others.
    public func copyItemKeepingMarks(at source: URL, to target: URL) throws {
        let delegate = delegate
        if let delegate, !delegate.fileManager(self, shouldCopyItemAt: source, to: target) {
            return
        }
        try source.operate { path in
            try target.operate { newPath in
                try ResourceValues.copyItem(from: path, to: newPath) { item, copy in
                    guard let delegate else { return true }
                    // A name that is not UTF-8 has a URL all the same; it has none only when relative.
                    guard let item = URL(bytesOf: item, isDirectory: false),
                        let copy = URL(bytesOf: copy, isDirectory: false)
                    else { return true }
                    return delegate.fileManager(self, shouldCopyItemAt: item, to: copy)
                }
            }
        }
    }

    /// Moves an item with its marks, also to another filesystem.
    ///
    /// - Throws: `CocoaError`, as ``copyItemKeepingMarks(at:to:)``.
    public func moveItemKeepingMarks(at source: URL, to target: URL) throws {
        if let delegate, !delegate.fileManager(self, shouldMoveItemAt: source, to: target) {
            return
        }
        try source.operate { path in
            try target.operate { newPath in try ResourceValues.moveItem(from: path, to: newPath) }
        }
    }

    /// Puts a new item in an old one's place, with the new one's content and the old one's marks,
    /// mode and access list. A mark that the new item has itself stays.
    ///
    /// - Parameters:
    ///   - originalItemURL: what is replaced.
    ///   - newItemURL: what replaces it; it is moved.
    ///   - backupItemName: a name beside the original; where it goes meanwhile and, with
    ///     `withoutDeletingBackupItem`, stays.
    ///   - options: with `usingNewMetadataOnly` the marks and the mode are the new item's.
    /// - Returns: the original's URL.
    /// - Throws: `CocoaError`, as ``copyItemKeepingMarks(at:to:)``.
    @discardableResult
    public func replaceItemKeepingMarks(
        at originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String? = nil,
        options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
        let backup =
            options.contains(.withoutDeletingBackupItem)
            ? backupItemName.map { originalItemURL.deletingLastPathComponent().appending(path: $0) }
            : nil
        try originalItemURL.operate { old in
            try newItemURL.operate { new in
                try ResourceValues.replaceItem(
                    at: old, with: new, backup: try backup?.filePath(),
                    keepingMetadata: !options.contains(.usingNewMetadataOnly))
            }
        }
        return originalItemURL
    }
}
#endif
