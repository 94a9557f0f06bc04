import SystemCalls
import SystemPackage

/// Stores a regular file's whole content at once: the file at the path is the old one or the new one
/// with all of its marks, never something in between.
///
/// The content is written to a file without a name (`O_TMPFILE`; where there is no such thing, with
/// a temporary name), the marks are stored on it, both are synchronized, and only then does it get
/// the name. It keeps the `user.*` attributes, access list, mode and, where this process may set
/// them, owner and group of the file it replaces; hard links to that one keep the old content. A
/// symbolic link at the path is itself replaced.
///
/// - Parameters:
///   - content: all that the file will hold.
///   - path: the file's path; its directory must exist.
///   - protection: the class to store; nil for the replaced file's own or, where nothing is replaced
///     or it has none, the one of the directory.
///   - isReplacing: whether a file at the path is replaced; otherwise it is an error.
///   - permissions: the permission bits of a new file, of which the process's file mode creation mask
///     takes some away.
/// - Throws: ``FileError``: `noSuchFile` (the directory), `fileExists`, `unsupportedFilesystem` (it
///   cannot hold the marks), `unsupportedFileKind` (something other than a regular file or a link has
///   the name), `noSpace` and others. The path leads to what it led to before then, unless only the
///   last step failed, which synchronizes the directory.
public func writeFile(
    _ content: UnsafeRawBufferPointer, to path: FilePath, protection: FileProtection? = nil,
    replacing isReplacing: Bool = true, permissions: UInt16 = 0o666
) throws(FileError) {
    let place = try ItemPlace(path)
    let old = try place.statusIfPresent()
    if let old {
        guard isReplacing else { throw .changingItem(.fileExists, path) }
        guard old.kind == .regularFile || old.kind == .symbolicLink else {
            throw old.kind == .directory
                ? .changingItem(.isDirectory, path) : unsupportedKind(path)
        }
    }
    var staged: StagedFile
    do throws(Errno) {
        staged = try StagedFile(in: place.directory, permissions: permissions)
    } catch {
        throw .changingItem(error, path)
    }
    try takeProtection(of: place, staged.descriptor)
    if let old, old.kind == .regularFile {
        try takeMetadata(of: place, old, staged.descriptor)
    }
    if let protection {
        try withPath(path) { () throws(FileError) in
            try staged.descriptor.setValue(protection, for: .fileProtection)
        }
    }
    do throws(Errno) {
        try writeFile(staged.descriptor, content)
        try synchronize(staged.descriptor)
        if old == nil {
            try publish(&staged, at: place, replacing: isReplacing)
        } else {
            try staged.replace(place.name)
        }
        try synchronizeDirectory(place.directory)
    } catch {
        throw .changingItem(error, path)
    }
}

/// Names a new file; what has got the name meanwhile is met as if it had been there before.
private func publish(
    _ staged: inout StagedFile, at place: borrowing ItemPlace, replacing isReplacing: Bool
) throws(Errno) {
    do throws(Errno) {
        try staged.publish(as: place.name)
    } catch .fileExists where isReplacing {
        try staged.replace(place.name)
    }
}

/// Gives a new file what the file it replaces has besides content.
private func takeMetadata(
    of place: borrowing ItemPlace, _ old: FileStatus, _ file: FileDescriptor
) throws(FileError) {
    // O_PATH: a file that may not be read has marks all the same, which may be refused then.
    let location = place.location
    let source = OwnedDescriptor(
        try attempt(place.path) { () throws(Errno) in try openReference(to: location) })
    // Only root may give files away; for others the file becomes theirs, as in every atomic write.
    try? setOwner(old.owner, group: old.group, of: file)
    try withPath(place.path) { () throws(FileError) in
        try copyUserAttributes(from: source.descriptor, to: file)
    }
    try attempt(place.path) { () throws(Errno) in
        try changeMode(copiedPermissions(old, of: file), of: file)
    }
}
