import SystemCalls
import SystemPackage

/// Moves an item with its marks: `renameat2(2)`, and across filesystems a copy, as
/// ``copyItem(from:to:shouldCopy:)`` makes it, after which the original is removed.
///
/// Never in place of another item.
///
/// - Throws: ``FileError``, as ``copyItem(from:to:shouldCopy:)`` does. When the original could not be
///   removed after a copy, both are there, and the error has the original's path.
public func moveItem(from source: FilePath, to target: FilePath) throws(FileError) {
    let from = try ItemPlace(source)
    _ = try from.status()
    let place = try ItemPlace(target)
    do throws(Errno) {
        try renameItem(from.name, in: from.directory, to: place.name, in: place.directory, .absent)
        return
    } catch .improperLink {
        try copyItem(from: source, to: target)
    } catch .invalidArgument {
        try renameUnconditionally(from, to: place)
        return
    } catch {
        throw .changingItem(error, error == .fileExists ? target : source)
    }
    do throws(Errno) {
        try removeTree(from.name, in: from.directory)
    } catch {
        throw .changingItem(error, source)
    }
}

/// For filesystems that know no conditions: a file is linked first, which never replaces.
private func renameUnconditionally(
    _ source: borrowing ItemPlace, to place: borrowing ItemPlace
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
