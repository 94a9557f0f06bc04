import SystemCalls
import SystemPackage

extension FilePath {
    /// Moves the item at this path with its marks: `renameat2(2)`, or across filesystems
    /// ``copyItem(to:shouldCopy:)`` followed by removal of the original.
    ///
    /// Never replaces another item.
    ///
    /// - Throws: ``FileError``, as ``copyItem(to:shouldCopy:)``. If the original could not be
    ///   removed after a copy, both exist, and the error has the original's path.
    public func moveItem(to target: FilePath) throws(FileError) {
        let from = try ItemPlace(self)
        _ = try from.status()
        let place = try ItemPlace(target)
        do throws(Errno) {
            try renameItem(
                from.name, in: from.directory, to: place.name, in: place.directory, .absent)
            return
        } catch .improperLink {
            try copyItem(to: target)
        } catch .invalidArgument {
            try renameUnconditionally(from, to: place)
            return
        } catch {
            throw .changingItem(error, error == .fileExists ? target : self)
        }
        do throws(Errno) {
            try removeTree(from.name, in: from.parent)
        } catch {
            throw .changingItem(error, self)
        }
    }
}

/// Renames where the filesystem supports no condition. A file is first linked, which never
/// replaces.
private func renameUnconditionally(
    _ source: ItemPlace, to place: ItemPlace
) throws(FileError) {
    let isDirectory = try source.status().kind == .directory
    do throws(Errno) {
        if isDirectory {
            try makeDirectory(place.name, in: place.directory, permissions: 0o700)
            do throws(Errno) {
                try renameItem(
                    source.name, in: source.directory, to: place.name, in: place.directory,
                    .replacing)
            } catch {
                try? removeItem(place.name, in: place.directory, isDirectory: true)
                throw error
            }
        } else {
            try linkItem(
                source.name, in: source.directory, to: place.name, in: place.directory)
            try removeItem(source.name, in: source.directory, isDirectory: false)
        }
    } catch {
        throw .changingItem(error, place.path)
    }
}

extension FilePath {
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
    ///   - backup: the path to move the old item to, which must not exist; nil to remove the old
    ///     item.
    ///   - isKeepingMetadata: whether the new item takes the old item's marks and mode.
    /// - Throws: ``FileError``. The old item is then still at its path, unless the new item is
    ///   there and only moving or removing the old item failed.
    public func replaceItem(
        with new: FilePath, backup: FilePath? = nil,
        keepingMetadata isKeepingMetadata: Bool = true
    ) throws(FileError) {
        let oldPlace = try ItemPlace(self)
        let newPlace = try ItemPlace(new)
        let newStatus = try newPlace.status()
        guard let oldStatus = try oldPlace.statusIfPresent() else {
            return try new.moveItem(to: self)
        }
        guard oldStatus.identity != newStatus.identity else {
            throw .changingItem(.invalidArgument, new)
        }
        // Next to the old item, so that one rename does the rest, even for an item from another
        // filesystem.
        let staged = removingLastComponent().appending(makeTemporaryName().components)
        try new.moveItem(to: staged)
        do throws(FileError) {
            let stagedPlace = try ItemPlace(staged)
            if isKeepingMetadata {
                try keepMetadata(of: oldPlace, oldStatus, on: stagedPlace, newStatus.kind)
            }
            try exchange(stagedPlace, oldPlace)
        } catch {
            throw movingBack(staged, to: new, after: error)
        }
        if let backup {
            try staged.moveItem(to: backup)
        } else {
            do throws(Errno) {
                try removeTree(staged.lastName, in: oldPlace.parent)
            } catch {
                throw .changingItem(error, staged)
            }
        }
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
    _ new: ItemPlace, _ old: ItemPlace
) throws(FileError) {
    do throws(Errno) {
        try renameItem(new.name, in: new.directory, to: old.name, in: old.directory, .exchanging)
    } catch .invalidArgument {
        throw FileError(
            code: .other, message: "this filesystem cannot exchange two items", path: old.path,
            errno: .invalidArgument)
    } catch {
        throw .changingItem(error, old.path)
    }
}

private func keepMetadata(
    of old: ItemPlace, _ status: FileStatus, on new: ItemPlace,
    _ newKind: FileKind
) throws(FileError) {
    guard newKind.canStoreUserAttributes, status.kind.canStoreUserAttributes else { return }
    let (oldLocation, newLocation) = (old.location, new.location)
    let source = OwnedDescriptor(
        try attempt(old.path) { () throws(Errno) in try openReference(to: oldLocation) })
    let target = OwnedDescriptor(
        try attempt(new.path) { () throws(Errno) in try openReference(to: newLocation) })
    try withPath(new.path) { () throws(FileError) in
        let file = target.descriptor
        if try file.value(for: .fileProtection) == FileProtection.none,
            let protection = try source.descriptor.value(for: .fileProtection)
        {
            try file.setValue(protection, for: .fileProtection)
        }
        try copyUserAttributes(from: source.descriptor, to: file, keepingPresent: true)
    }
    guard status.kind == newKind else { return }
    try attempt(new.path) { () throws(Errno) in
        try setPermissions(copiedPermissions(status, of: target.descriptor), of: target.descriptor)
    }
}

extension FilePath {
    fileprivate var lastName: FilePath {
        lastComponent.map { FilePath(root: nil, [$0]) } ?? self
    }
}
