import SystemCalls
import SystemPackage

extension FilePath {
    /// Copies the item at this path with its marks: a regular file, a directory with its contents,
    /// or a symbolic link as a link.
    ///
    /// Copies content (blocks are shared where the filesystem can: `FICLONE`; holes stay holes),
    /// all `user.*` attributes, ACLs, modes, and access and modification times. Owners are not
    /// copied: the copy belongs to the caller, and set-ID bits are kept only if the owner and group
    /// are the same. A copy that stores no protection class takes the class of the directory it is
    /// placed in.
    ///
    /// The copy appears under its name complete or not at all, and never replaces another item. No
    /// path is resolved twice: items are reached by descriptor, and links are not followed.
    ///
    /// - Parameters:
    ///   - target: the copy's path. It must not exist, and its parent must.
    ///   - shouldCopy: called for each item but the first, with its path and the copy's.
    /// - Throws: ``FileError``: `noSuchFile`, `fileExists`, `unsupportedFileKind` (FIFOs, sockets,
    ///   devices), `unsupportedFilesystem` (it cannot store an attribute of the item), `noSpace`,
    ///   `permissionDenied` and others, with the path of the item that could not be copied.
    public func copyItem(
        to target: FilePath,
        shouldCopy: @escaping (FilePath, FilePath) -> Bool = { _, _ in true }
    ) throws(FileError) {
        let from = try ItemPlace(self)
        let kind = try from.status().kind
        let place = try ItemPlace(target)
        // Checked before the work is done; the last step detects an item that appears later.
        guard try place.statusIfPresent() == nil else {
            throw .changingItem(.fileExists, target)
        }
        switch kind {
        case .regularFile: try copyRegularFile(from, to: place)
        case .directory: try copyDirectory(from, to: place, shouldCopy)
        case .symbolicLink: try copyLink(from.location, to: place.name, in: place.directory, target)
        default: throw unsupportedKind(self)
        }
    }
}

private func copyRegularFile(
    _ source: ItemPlace, to place: ItemPlace
) throws(FileError) {
    let input = OwnedDescriptor(
        try attempt(source.path) { () throws(Errno) in
            try openForReading(source.name, in: source.directory)
        })
    var staged: StagedFile
    do throws(Errno) {
        staged = try StagedFile(in: place.directory, permissions: 0o600)
    } catch {
        throw .changingItem(error, place.path)
    }
    try takeProtection(of: place, staged.descriptor)
    try copyFile(input.descriptor, to: staged.descriptor, paths: (source.path, place.path))
    do throws(Errno) {
        try staged.publish(as: place.name)
    } catch {
        throw .changingItem(error, place.path)
    }
}

private func copyDirectory(
    _ source: ItemPlace, to place: ItemPlace,
    _ shouldCopy: @escaping (FilePath, FilePath) -> Bool
) throws(FileError) {
    let input = try attempt(source.path) { () throws(Errno) in
        try source.parent.openDirectory(source.name)
    }
    var staged = try StagedDirectory(at: place, permissions: 0o700)
    try takeProtection(of: place, staged.directory.descriptor)
    var copier = try TreeCopier(
        input, staged.directory, paths: (source.path, place.path), shouldCopy: shouldCopy)
    try copier.run()
    try staged.publish(at: place)
}

/// Stores the class that new items in the directory of an item take.
func takeProtection(
    of place: ItemPlace, _ file: FileDescriptor
) throws(FileError) {
    guard let protection = try place.inheritedProtection() else { return }
    try withPath(place.path) { () throws(FileError) in
        try file.setValue(protection, for: .fileProtection)
    }
}
