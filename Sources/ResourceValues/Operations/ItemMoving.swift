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
