#if !canImport(Darwin)
import Foundation
import ResourceValues
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
    ///     with `withoutDeletingBackupItem`, in place of any item of that name; not used without this
    ///     option.
    ///   - options: with `usingNewMetadataOnly`, the marks and the mode are the new item's.
    /// - Returns: the original's URL.
    /// - Throws: `CocoaError`, as ``copyItemKeepingMarks(at:to:)``, and `fileWriteInvalidFileName` for
    ///   a `backupItemName` that is not one name, with or without the option.
    @discardableResult
    public func replaceItemKeepingMarks(
        at originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String? = nil,
        options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
        try originalItemURL.operate { old in
            let backup = try backupItemName.map { try old.sibling(named: $0) }
            try newItemURL.operateOnExisting { new in
                try old.replaceItem(
                    with: new,
                    backup: options.contains(.withoutDeletingBackupItem) ? backup : nil,
                    keepingMetadata: !options.contains(.usingNewMetadataOnly))
            }
        }
        return originalItemURL
    }
}

extension FilePath {
    /// Returns the path of another item in the same directory.
    ///
    /// - Throws: ``FileError`` for anything but one name that an item can have.
    fileprivate func sibling(named name: String) throws(FileError) -> FilePath {
        guard !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "/")),
            let component = FilePath.Component(name), component.kind == .regular
        else {
            throw FileError(
                code: .nameTooLong, message: "the name for its backup is not a file name",
                advice: "use one name, without a slash", path: self)
        }
        return removingLastComponent().appending(component)
    }
}

extension Data {
    /// Writes the data and keeps marks: what `write(to:options:)` does on Apple's systems.
    ///
    /// With a protection class, with `atomic`, or if the file does not exist yet, the file appears
    /// under its name only with its whole content and all marks (see `writeFile` of
    /// ResourceValues). With `atomic` both are synchronized to disk before, as Foundation does: after a loss of
    /// power there is the old file or the whole new one. Its class is the one in the options, else the replaced
    /// file's, else the directory's. Otherwise an existing file is written in place, which keeps
    /// its marks.
    ///
    /// - Throws: `CocoaError`: `fileWriteFileExists` (with `withoutOverwriting`), `fileNoSuchFile`,
    ///   `featureUnsupported` (the filesystem cannot store the class), `fileWriteOutOfSpace` and
    ///   others.
    public func writeKeepingMarks(to url: URL, options: Data.WritingOptions = []) throws {
        let protection = try options.protection(url)
        let isReplacing = !options.contains(.withoutOverwriting)
        if protection == nil && isReplacing && url.isWrittenInPlace(options) {
            return try url.operate(.creating) { _ in try write(to: url, options: options) }
        }
        try write(
            to: url, protection: protection, replacing: isReplacing,
            synchronizing: options.contains(.atomic) ? .content : .none)
    }

    /// - Parameter permissions: the permission bits of a new file, reduced by the process's umask.
    func write(
        to url: URL, protection: FileProtection?, replacing isReplacing: Bool,
        permissions: UInt16 = 0o666, synchronizing synchronization: WriteSynchronization
    ) throws {
        try url.operate(.creating) { path in
            try withUnsafeBytes { bytes in
                try path.writeFile(
                    bytes, protection: protection, replacing: isReplacing,
                    permissions: permissions, synchronizing: synchronization)
            }
        }
    }
}

extension URL {
    /// Whether an existing file is written in place: always for devices, FIFOs and other kinds of
    /// items; for regular files and symbolic links unless the write is atomic.
    fileprivate func isWrittenInPlace(_ options: Data.WritingOptions) -> Bool {
        // The write itself meets and reports this error.
        guard let path = try? filePath() else { return true }
        guard let status = try? path.withoutFollowing.status() else { return false }
        if status.kind == .regularFile || status.kind == .symbolicLink {
            return !options.contains(.atomic)
        }
        return true
    }
}

extension Data.WritingOptions {
    /// Returns the class in the options, or nil.
    fileprivate func protection(_ url: URL) throws -> FileProtection? {
        switch intersection(.fileProtectionMask) {
        case []: return nil
        case .noFileProtection: return FileProtection.none
        case .completeFileProtection: return .complete
        case .completeFileProtectionUnlessOpen: return .completeUnlessOpen
        case .completeFileProtectionUntilFirstUserAuthentication:
            return .completeUntilFirstUserAuthentication
        case .completeFileProtectionWhenUserInactive: return .completeWhenUserInactive
        default:
            let error = FileError(code: .unsupportedFileKind, message: "unknown protection class")
            throw CocoaError(error, url, .writing)
        }
    }

    /// Readable while unlocked, and for a grace period after the user leaves.
    public static let completeFileProtectionWhenUserInactive = Data.WritingOptions(
        rawValue: 0x5000_0000)
}

extension StringProtocol {
    /// Writes the text and keeps marks, as ``Foundation/Data/writeKeepingMarks(to:options:)`` does.
    ///
    /// - Throws: also `fileWriteInapplicableStringEncoding`.
    public func writeKeepingMarks(
        to url: URL, atomically useAuxiliaryFile: Bool, encoding: String.Encoding
    ) throws {
        guard let data = data(using: encoding) else {
            throw CocoaError(.fileWriteInapplicableStringEncoding).naming(url)
        }
        try data.writeKeepingMarks(to: url, options: useAuxiliaryFile ? .atomic : [])
    }
}
#endif
