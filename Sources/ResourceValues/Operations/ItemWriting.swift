import SystemCalls
import SystemPackage

/// What `writeFile` of a path has on disk before it returns (`fsync(2)`), and so what a loss of power cannot
/// take back.
public enum WriteSynchronization: Sendable {
    /// Nothing of a new file: the path may lead to a file without its content afterwards. The content of a
    /// file that replaces another one is: there is the old file or the whole new one.
    case none

    /// The content and the marks: the path leads to the old file or to the whole new one.
    case content

    /// Also the name: the path leads to the whole new file.
    case contentAndName
}

extension FilePath {
    /// Writes a regular file at this path atomically: the path leads to the old file or to the new
    /// file with all of its marks, never to anything in between.
    ///
    /// The content is written to an unnamed file (`O_TMPFILE`), or to a file with a temporary name
    /// where those are not supported. The marks are stored on it, and only then does the file get its
    /// name. It keeps the `user.*` attributes, ACLs, mode and, where
    /// this process may set them, owner and group of the file it replaces, of an evicted one those it
    /// had before; hard links to that file keep the old content. A symbolic link at the path is itself
    /// replaced.
    ///
    /// - Parameters:
    ///   - content: the whole content of the file.
    ///   - protection: the class to store; nil for the replaced file's own class or, if no file is
    ///     replaced or it has no class, the class of the directory.
    ///   - isReplacing: whether a file at the path is replaced; otherwise it is an error.
    ///   - permissions: the permission bits of a new file, reduced by the process's umask.
    ///   - synchronization: what is on disk when this function returns.
    /// - Throws: ``FileError``: `noSuchFile` (the directory, which must exist), `fileExists`,
    ///   `unsupportedFilesystem` (it cannot store the marks), `unsupportedFileKind` (the path leads
    ///   to something other than a regular file or a link), `noSpace` and others. The path is
    ///   unchanged then, unless only the last step failed, which synchronizes the directory.
    public func writeFile(
        _ content: UnsafeRawBufferPointer, protection: FileProtection? = nil,
        replacing isReplacing: Bool = true, permissions: UInt16 = 0o666,
        synchronizing synchronization: WriteSynchronization = .contentAndName
    ) throws(FileError) {
        let entry = try DirectoryEntry(self)
        let old = try entry.statusIfPresent()
        if let old {
            guard isReplacing else { throw FileError(.fileExists, of: self) }
            guard old.kind == .regularFile || old.kind == .symbolicLink else {
                throw old.kind == .directory
                    ? FileError(.isDirectory, of: self) : unsupportedKind(self)
            }
        }
        var staged = try entry.stageFile(permissions: permissions)
        try takeProtection(of: entry, staged.descriptor)
        if let old, old.kind == .regularFile {
            try takeMetadata(of: entry, old, staged.descriptor)
        }
        if let protection {
            try staged.descriptor.named(self).storeProtection(protection)
        }
        try calls(on: self) { () throws(Errno) in
            try SystemCalls.writeFile(staged.descriptor, content)
            if synchronization != .none || old != nil { try synchronize(staged.descriptor) }
            if old == nil {
                try publish(&staged, at: entry, replacing: isReplacing)
            } else {
                try staged.replace(entry.name)
            }
            if synchronization == .contentAndName { try synchronizeDirectory(entry.directory) }
        }
    }
}

/// Gives a new file its name; an item that has got the name since is handled as if it had been
/// there before.
private func publish(
    _ staged: inout StagedFile, at entry: DirectoryEntry, replacing isReplacing: Bool
) throws(Errno) {
    do throws(Errno) {
        try staged.publish(as: entry.name)
    } catch .fileExists where isReplacing {
        try staged.replace(entry.name)
    }
}

/// Copies everything but content from a replaced file to the new file.
private func takeMetadata(
    of entry: DirectoryEntry, _ old: FileStatus, _ file: FileDescriptor
) throws(FileError) {
    // O_PATH: a file that may not be read can have marks, too; reading those may then fail.
    let source = try entry.openReference()
    defer { withExtendedLifetime(source) {} }
    // Only root may change owners; for other users the new file is theirs, as with any atomic
    // write.
    try? setOwner(old.owner, group: old.group, of: file)
    let replaced = source.descriptor.named(entry.path)
    let record = try replaced.evictionRecord()
    try copyUserAttributes(
        from: replaced, to: file.named(entry.path), leavingOut: record, unstorable: .refused)
    try calls(on: entry.path) { () throws(Errno) in
        try changeMode(copiedPermissions(old, of: file, replacing: record), of: file)
    }
}

extension FilePath {
    /// Creates a directory at this path that has its protection class from the moment it appears.
    ///
    /// - Parameters:
    ///   - protection: the class to store; nil for the class of the parent.
    ///   - permissions: the permission bits, reduced by the process's umask as for `mkdir(2)`.
    /// - Throws: ``FileError``: `noSuchFile` (the parent, which must exist), `fileExists`, also for
    ///   `/` and paths that end in `.` or `..`, `unsupportedFilesystem` (it cannot store the class)
    ///   and others. Nothing is created then.
    public func makeDirectory(
        protection: FileProtection? = nil, permissions: UInt16 = 0o777
    ) throws(FileError) {
        guard lastComponent?.kind == .regular else {
            _ = try fileStatus()
            throw FileError(.fileExists, of: self)
        }
        let entry = try DirectoryEntry(self)
        guard try entry.statusIfPresent() == nil else {
            throw FileError(.fileExists, of: self)
        }
        var staged = try StagedDirectory(at: entry, permissions: permissions)
        let inherited = try entry.inheritedProtection()
        if let protection = protection ?? inherited {
            try staged.directory.descriptor.named(self).storeProtection(protection)
        }
        try staged.publish(at: entry)
    }
}

extension NamedDescriptor {
    /// Stores the class of a new item. `none` needs no storing where no class can be stored.
    fileprivate func storeProtection(_ protection: FileProtection) throws(FileError) {
        do throws(FileError) {
            try setValue(.protection(protection), for: .fileProtection)
        } catch  where error.code == .unsupportedFilesystem && protection == .none {
            return
        }
    }
}

extension FilePath {
    /// Replaces a file that only its owner can read, or creates it.
    package func writePrivateFile(_ content: [UInt8]) throws(FileError) {
        try content.withUnsafeBufferPointer { bytes throws(FileError) in
            try writeFile(UnsafeRawBufferPointer(bytes), permissions: 0o600)
        }
    }
}
