import SystemCalls
import SystemPackage

/// A new regular file that does not appear under its name before it is complete.
///
/// It has no name at all where the filesystem supports that, so nothing is left of it if the
/// process dies. Elsewhere it has a temporary name.
package struct StagedFile: ~Copyable {
    private let owned: OwnedDescriptor
    private let parent: OpenDirectory
    private var temporaryName: FilePath?

    package var descriptor: FileDescriptor { owned.descriptor }

    /// - Parameters:
    ///   - parent: the directory of the file. It is kept open until the temporary name is removed.
    ///   - permissions: the permission bits, reduced by the process's umask as for `open(2)`.
    package init(in parent: OpenDirectory, permissions: UInt16) throws(Errno) {
        self.parent = parent
        let directory = parent.descriptor
        if let unnamed = try makeUnnamedFile(in: directory, permissions: permissions) {
            owned = OwnedDescriptor(unnamed)
            temporaryName = nil
        } else {
            let name = makeTemporaryName()
            owned = OwnedDescriptor(
                try makeFile(name, in: directory, permissions: permissions))
            temporaryName = name
        }
    }

    deinit {
        // An incomplete file is of no use, and a leftover does no harm. The directory itself is
        // passed on: its descriptor alone would not keep it open, now that its owner ends.
        if let temporaryName { try? parent.remove(temporaryName) }
    }

    /// Gives the file its name, which must not exist.
    ///
    /// - Throws: `EEXIST` if the name exists.
    package mutating func publish(as name: FilePath) throws(Errno) {
        let directory = parent.descriptor
        guard let temporaryName else { return try nameFile(descriptor, name, in: directory) }
        try renameItem(temporaryName, in: directory, to: name, in: directory, .absent)
        self.temporaryName = nil
    }

    /// Gives the file its name and replaces any file that has it.
    package mutating func replace(_ name: FilePath) throws(Errno) {
        let directory = parent.descriptor
        let temporary = temporaryName ?? makeTemporaryName()
        if temporaryName == nil {
            try nameFile(descriptor, temporary, in: directory)
            temporaryName = temporary
        }
        try renameItem(temporary, in: directory, to: name, in: directory, .replacing)
        temporaryName = nil
    }
}

extension DirectoryEntry {
    /// Creates an empty file that is to get this name.
    func stageFile(permissions: UInt16) throws(FileError) -> StagedFile {
        return try calls(on: path) { () throws(Errno) in
            try StagedFile(in: parent, permissions: permissions)
        }
    }
}

/// A new directory that has a temporary name until it is complete.
struct StagedDirectory: ~Copyable {
    let directory: OpenDirectory
    private let parent: OpenDirectory
    private var temporaryName: FilePath?

    /// Creates an empty directory next to the item to be created.
    ///
    /// - Parameter permissions: the permission bits, reduced by the process's umask as for
    ///   `mkdir(2)`.
    init(at entry: DirectoryEntry, permissions: UInt16) throws(FileError) {
        let name = makeTemporaryName()
        parent = entry.parent
        directory = try calls(on: entry.path) { () throws(Errno) in
            try makeDirectory(name, in: entry.directory, permissions: permissions)
            do throws(Errno) {
                return try entry.parent.openDirectory(name)
            } catch {
                try? entry.parent.remove(name, isDirectory: true)
                throw error
            }
        }
        temporaryName = name
    }

    deinit {
        // A leftover does no harm, and the error that led here is the one to report.
        if let temporaryName { try? removeTree(temporaryName, in: parent) }
    }

    /// Gives the directory its name, which must not exist.
    mutating func publish(at entry: DirectoryEntry) throws(FileError) {
        guard let temporaryName else { return }
        let parent = parent.descriptor
        try calls(on: entry.path) { () throws(Errno) in
            try renameItem(temporaryName, in: parent, to: entry.name, in: parent, .absent)
        }
        self.temporaryName = nil
    }
}
