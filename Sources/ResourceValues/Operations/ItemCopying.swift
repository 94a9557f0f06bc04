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
    /// placed in. `user.*` attributes of other programs that the target's filesystem does not store,
    /// or has no space for besides that for content, are not copied, unless they are marks that
    /// this package acts on, such as `user.xdg.robots.backup`.
    ///
    /// The copy appears under its name complete or not at all, and never replaces another item. No
    /// path is resolved twice: items are reached by descriptor, and links are not followed.
    ///
    /// - Parameters:
    ///   - target: the copy's path. It must not exist, and its parent must.
    ///   - shouldCopy: called for each item but the first, with its path and the copy's.
    /// - Throws: ``FileError``: `noSuchFile`, `fileExists`, `unsupportedFileKind` (FIFOs, sockets,
    ///   devices), `unsupportedFilesystem` (it cannot store a mark or an ACL of the item; the
    ///   message names the marks), `noSpace`, `quotaExceeded`, `tooLarge`, `permissionDenied` and
    ///   others, with the path of the item that could not be copied.
    public func copyItem(
        to target: FilePath,
        shouldCopy: @escaping (FilePath, FilePath) -> Bool = { _, _ in true }
    ) throws(FileError) {
        try copyItem(to: target, .leftOut, shouldCopy: shouldCopy)
    }

    /// Copies the item as ``copyItem(to:shouldCopy:)`` does, except for what happens to attributes
    /// of other programs that cannot be stored.
    ///
    /// - Returns: what was copied; where attributes may be left out, of a directory only itself.
    @discardableResult
    func copyItem(
        to target: FilePath, _ unstorable: UnstorableAttributes,
        shouldCopy: @escaping (FilePath, FilePath) -> Bool = { _, _ in true }
    ) throws(FileError) -> CopiedItems {
        let source = try DirectoryEntry(self)
        let kind = try source.fileStatus().kind
        let copy = try DirectoryEntry(target)
        // Checked before the work is done; the last step detects an item that appears later.
        guard try copy.statusIfPresent() == nil else {
            throw FileError(.fileExists, of: target)
        }
        switch kind {
        case .regularFile: return try copyRegularFile(source, to: copy, unstorable)
        case .directory: return try copyDirectory(source, to: copy, unstorable, shouldCopy)
        case .symbolicLink: return CopiedItems(try copyLink(source, to: copy))
        default: throw unsupportedKind(self)
        }
    }
}

private func copyRegularFile(
    _ source: DirectoryEntry, to copy: DirectoryEntry, _ unstorable: UnstorableAttributes
) throws(FileError) -> CopiedItems {
    let input = try source.openForReading()
    defer { withExtendedLifetime(input) {} }
    var staged = try copy.stageFile(permissions: 0o600)
    try takeProtection(of: copy, staged.descriptor)
    let copied = try copyFile(
        input.descriptor.named(source.path), to: staged.descriptor.named(copy.path), unstorable)
    try calls(on: copy.path) { () throws(Errno) in
        try staged.publish(as: copy.name)
    }
    return CopiedItems(copied)
}

private func copyDirectory(
    _ source: DirectoryEntry, to copy: DirectoryEntry, _ unstorable: UnstorableAttributes,
    _ shouldCopy: @escaping (FilePath, FilePath) -> Bool
) throws(FileError) -> CopiedItems {
    let input = try source.openDirectory()
    if unstorable == .refused { try requireNoMount(on: input, source) }
    var staged = try StagedDirectory(at: copy, permissions: 0o700)
    try takeProtection(of: copy, staged.directory.descriptor)
    var copier = try TreeCopier(
        input, staged.directory, paths: (source.path, copy.path), unstorable,
        shouldCopy: shouldCopy)
    try copier.run()
    try staged.publish(at: copy)
    return copier.copied
}

/// Stores the class that new items in the directory of an entry take.
func takeProtection(
    of entry: DirectoryEntry, _ file: FileDescriptor
) throws(FileError) {
    guard let protection = try entry.inheritedProtection() else { return }
    try file.named(entry.path).setValue(.protection(protection), for: .fileProtection)
}
