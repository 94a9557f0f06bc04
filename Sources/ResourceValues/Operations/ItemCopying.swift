import SystemCalls
import SystemPackage

/// Copies an item with its marks: a regular file, a directory with all that is in it, or a symbolic
/// link as a link.
///
/// Copied are content (blocks are shared where the filesystem can: `FICLONE`; holes stay holes), all
/// `user.*` attributes, access lists, modes and the times of content. Owners are not: the copy is
/// the caller's, and set-ID bits stay only where that makes no difference. A copy that stores no
/// protection class takes the one of the directory it is put into.
///
/// The copy appears under its name complete or not at all, and never in place of another item.
/// Nothing is copied by a path twice: items are reached by descriptor, and links are not followed.
///
/// - Parameters:
///   - source: the item; a symbolic link is copied, not followed.
///   - target: the copy's path. Nothing may be there; the directory above must exist.
///   - shouldCopy: asked about each item but the first, with its path and the copy's.
/// - Throws: ``FileError``: `noSuchFile`, `fileExists`, `unsupportedFileKind` (FIFOs, sockets, devices),
///   `unsupportedFilesystem` (it cannot hold an attribute the item has), `noSpace`,
///   `permissionDenied` and others, with the path of the item that could not be copied.
public func copyItem(
    from source: FilePath, to target: FilePath,
    shouldCopy: @escaping (FilePath, FilePath) -> Bool = { _, _ in true }
) throws(FileError) {
    let from = try ItemPlace(source)
    let kind = try from.status().kind
    let place = try ItemPlace(target)
    // Said before the work is done; what appears later is met by the last step.
    guard try place.statusIfPresent() == nil else {
        throw .changingItem(.fileExists, target)
    }
    switch kind {
    case .regularFile: try copyRegularFile(from, to: place)
    case .directory: try copyDirectory(from, to: place, shouldCopy)
    case .symbolicLink: try copyLink(from.location, to: place.name, in: place.directory, target)
    default: throw unsupportedKind(source)
    }
}

private func copyRegularFile(
    _ source: borrowing ItemPlace, to place: borrowing ItemPlace
) throws(FileError) {
    let (name, directory) = (source.name, source.directory)
    let input = OwnedDescriptor(
        try attempt(source.path) { () throws(Errno) in
            try openForReading(name, in: directory)
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
    _ source: borrowing ItemPlace, to place: borrowing ItemPlace,
    _ shouldCopy: @escaping (FilePath, FilePath) -> Bool
) throws(FileError) {
    let (name, directory) = (source.name, source.directory)
    let input = try attempt(source.path) { () throws(Errno) in
        try openDirectory(name, in: directory)
    }
    var isInputOurs = true
    defer { if isInputOurs { closeQuietly(input) } }
    var staged = try StagedDirectory(at: place, permissions: 0o700)
    try takeProtection(of: place, staged.descriptor)
    let output = try attempt(place.path) { () throws(Errno) in try staged.reopened() }
    isInputOurs = false
    var copier = TreeCopier(
        input, output, paths: (source.path, place.path), shouldCopy: shouldCopy)
    try copier.run()
    try staged.publish(at: place)
}

/// Stores the class that new items at a place take.
func takeProtection(
    of place: borrowing ItemPlace, _ file: FileDescriptor
) throws(FileError) {
    guard let protection = try place.inheritedProtection() else { return }
    try withPath(place.path) { () throws(FileError) in
        try file.setValue(protection, for: .fileProtection)
    }
}
