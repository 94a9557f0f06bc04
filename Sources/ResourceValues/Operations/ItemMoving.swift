import SystemCalls
import SystemPackage

extension FilePath {
    /// Moves the item at this path with its marks: `renameat2(2)`, or across filesystems
    /// ``copyItem(to:shouldCopy:)`` followed by removal of the original.
    ///
    /// Never replaces another item and, unlike a copy, leaves out no `user.*` attribute.
    ///
    /// - Throws: ``FileError``, as ``copyItem(to:shouldCopy:)``, and for an attribute of another
    ///   program that cannot be stored: `unsupportedFilesystem`, `noSpace`, `quotaExceeded` or
    ///   `tooLarge`, with a message that names what would be lost; `EBUSY` where a filesystem is mounted
    ///   in the original. Nothing is changed then. If the original could not be removed after a copy, both
    ///   exist, and the error has the original's path: `changed` where something was written there
    ///   meanwhile, which the copy may lack.
    public func moveItem(to target: FilePath) throws(FileError) {
        let source = try DirectoryEntry(self)
        _ = try source.fileStatus()
        let new = try DirectoryEntry(target)
        let copied: CopiedItems
        do throws(Errno) {
            try renameItem(
                source.name, in: source.directory, to: new.name, in: new.directory, .absent)
            return
        } catch .improperLink {
            copied = try copyItem(to: target, .refused)
        } catch {
            throw FileError(error, of: error == .fileExists ? target : self)
        }
        do throws(Errno) {
            try removeTree(source.name, in: source.parent, ifIn: copied)
        } catch .staleNFSFileHandle {
            throw FileError(
                code: .changed,
                message: "was changed while it was moved, so what is left of it stays",
                advice: "compare it with its copy", path: self, errno: .staleNFSFileHandle)
        } catch {
            throw FileError(error, of: self)
        }
    }

    /// Replaces the item at this path with a new one, which takes the old item's marks.
    ///
    /// At every moment the old item's path leads to the old item or to the new one
    /// (`RENAME_EXCHANGE`). With `isKeepingMetadata` the new item first takes the old item's mode,
    /// ACLs and `user.*` attributes. The new item's own attributes are kept, except for a
    /// protection class `none`, which is replaced by the old item's class.
    ///
    /// - Parameters:
    ///   - new: the new item, which is moved, also from another filesystem, and also if there is no
    ///     item to replace.
    ///   - backup: the path to move the old item to, in place of any item that is there; nil to remove
    ///     the old item.
    ///   - isKeepingMetadata: whether the new item takes the old item's marks and mode.
    /// - Throws: ``FileError``, as ``moveItem(to:)``. The old item is then still at its path, unless the new item is
    ///   there and only moving or removing the old item failed.
    public func replaceItem(
        with new: FilePath, backup: FilePath? = nil,
        keepingMetadata isKeepingMetadata: Bool = true
    ) throws(FileError) {
        let old = try DirectoryEntry(self)
        let newStatus = try DirectoryEntry(new).fileStatus()
        guard let oldStatus = try old.statusIfPresent() else {
            return try new.moveItem(to: self)
        }
        guard oldStatus.identity != newStatus.identity else {
            throw FileError(.invalidArgument, of: new)
        }
        let kept = try backup.map { path throws(FileError) in try DirectoryEntry(path) }
        guard try kept?.isSameName(as: old) != true else { throw FileError(.fileExists, of: self) }
        // Looked for before anything is changed.
        let removed = kept ?? old
        if try removed.statusIfPresent()?.kind == .directory { try requireNoMounts(in: removed) }
        // Next to the old item, so that one rename does the rest, even for an item from another
        // filesystem.
        let staged = removingLastComponent().appending(makeTemporaryName().components)
        try new.moveItem(to: staged)
        do throws(FileError) {
            let stagedEntry = try DirectoryEntry(staged)
            if isKeepingMetadata {
                try keepMetadata(of: old, oldStatus, on: stagedEntry, newStatus.kind)
            }
            try exchange(stagedEntry, old)
        } catch {
            throw movingBack(staged, to: new, after: error)
        }
        do throws(FileError) {
            try putAside(staged, as: kept)
        } catch {
            var failure = error
            failure.message += "; the item that was replaced is now \(staged)"
            throw failure
        }
    }
}

/// Moves the replaced item to where it is kept, in place of any item that is there, or removes it.
private func putAside(_ staged: FilePath, as kept: DirectoryEntry?) throws(FileError) {
    let old = try DirectoryEntry(staged)
    if let kept {
        guard try kept.statusIfPresent() != nil else { return try staged.moveItem(to: kept.path) }
        try exchange(old, kept)
    }
    try calls(on: staged) { () throws(Errno) in
        try removeTree(old.name, in: old.parent)
    }
}

/// Moves the new item back to its own path.
///
/// - Returns: the error to throw; if the move fails, too, its message says where the item is.
private func movingBack(
    _ staged: FilePath, to new: FilePath, after failure: FileError
) -> FileError {
    do throws(FileError) {
        try staged.moveItem(to: new)
        return failure
    } catch {
        var failure = failure
        failure.message += "; the new item is now \(staged), since: \(error.message)"
        return failure
    }
}

private func exchange(
    _ new: DirectoryEntry, _ old: DirectoryEntry
) throws(FileError) {
    do throws(Errno) {
        try renameItem(new.name, in: new.directory, to: old.name, in: old.directory, .exchanging)
    } catch .invalidArgument, .noFunction {
        throw FileError(
            code: .other, message: "this filesystem or kernel cannot exchange two items",
            path: old.path, errno: .invalidArgument)
    } catch {
        throw FileError(error, of: old.path)
    }
}

private func keepMetadata(
    of old: DirectoryEntry, _ status: FileStatus, on new: DirectoryEntry,
    _ newKind: FileKind
) throws(FileError) {
    guard newKind.canStoreUserAttributes, status.kind.canStoreUserAttributes else { return }
    let input = try old.openReference()
    let output = try new.openReference()
    // Both stay open to the end, and not only until the last use of their owners.
    defer {
        withExtendedLifetime(input) {}
        withExtendedLifetime(output) {}
    }
    let (source, target) = (input.descriptor.named(old.path), output.descriptor.named(new.path))
    if try target.fileProtection == FileProtection.none,
        let protection = try source.fileProtection
    {
        try target.setValue(.protection(protection), for: .fileProtection)
    }
    let record = try source.evictionRecord()
    try copyUserAttributes(
        from: source, to: target, keepingPresent: true, leavingOut: record, unstorable: .refused)
    guard status.kind == newKind else { return }
    try calls(on: new.path) { () throws(Errno) in
        let permissions = try copiedPermissions(
            status, of: output.descriptor, replacing: record)
        try setPermissions(permissions, of: output.descriptor)
    }
}
