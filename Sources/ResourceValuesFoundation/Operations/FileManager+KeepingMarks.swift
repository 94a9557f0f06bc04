#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Copies an item with its marks, which Foundation's `copyItem` loses for regular files.
    ///
    /// The copy shares blocks where the filesystem supports that. It appears complete or not at
    /// all, and never replaces another item. The delegate decides about each item; an error ends
    /// the copy.
    ///
    /// - Throws: `CocoaError`: `fileReadNoSuchFile` (of the item), `fileNoSuchFile` (of the
    ///   directory to copy to), `fileWriteFileExists`, `featureUnsupported` (an item other than a file, directory or link, or a filesystem that cannot store the marks),
    ///   `fileWriteOutOfSpace` and others.
    public func copyItemKeepingMarks(at source: URL, to target: URL) throws {
        let delegate = delegate
        if let delegate, !delegate.fileManager(self, shouldCopyItemAt: source, to: target) {
            return
        }
        try source.operateOnExisting { path in
            try target.operate { newPath in
                try path.copyItem(to: newPath) { item, copy in
                    guard let delegate else { return true }
                    // An item whose path is not UTF-8 has no URL; it is copied.
                    guard let item = URL(bytesOf: item, isDirectory: false),
                        let copy = URL(bytesOf: copy, isDirectory: false)
                    else { return true }
                    return delegate.fileManager(self, shouldCopyItemAt: item, to: copy)
                }
            }
        }
    }

    /// Moves an item with its marks, even to another filesystem.
    ///
    /// - Throws: `CocoaError`, as ``copyItemKeepingMarks(at:to:)``, also for an attribute of another
    ///   program that cannot be stored there: unlike a copy, a move drops none.
    public func moveItemKeepingMarks(at source: URL, to target: URL) throws {
        if let delegate, !delegate.fileManager(self, shouldMoveItemAt: source, to: target) {
            return
        }
        try source.operate { path in
            try target.operate { newPath in try path.moveItem(to: newPath) }
        }
    }

    /// Replaces an item with a new one, keeping the original's marks, mode and access control list.
    /// Marks of the new item take precedence, except a protection class `none`.
    ///
    /// - Parameters:
    ///   - originalItemURL: the item to replace.
    ///   - newItemURL: the item that replaces it; it is moved.
    ///   - backupItemName: a name in the original's directory for the original, which stays there
    ///     with `withoutDeletingBackupItem`; ignored without this option.
    ///   - options: with `usingNewMetadataOnly`, the marks and the mode are the new item's.
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
            try newItemURL.operateOnExisting { new in
                try old.replaceItem(
                    with: new, backup: try backup?.filePath(),
                    keepingMetadata: !options.contains(.usingNewMetadataOnly))
            }
        }
        return originalItemURL
    }
}
#endif
