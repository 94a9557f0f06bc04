import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The journal of one user's evictions and downloads in progress: a directory with a file for each,
/// named after the inode and the device.
///
/// That a file is evicted, and where its content is, is recorded on the file itself, as its
/// ``EvictionRecord``. The journal contains what is needed to finish an interrupted eviction or
/// download without the repository, why downloads failed, and the locations of repositories.
///
/// Each item has its own record file. A change is one atomic replacement, on disk before the call
/// returns, so that neither a kill nor a power failure leaves half a record. Processes that work on
/// different items do not conflict, and a record is found without reading the others. A process
/// must have an item's ``lock(_:)`` while it works on the item.
package struct Journal: Sendable, Hashable {
    /// What it says about downloads.
    package let downloads: DownloadNotes
    /// The directory, which may not exist yet.
    package var directory: FilePath { downloads.directory }

    /// Creates a journal in a directory.
    package init(directory: FilePath) { downloads = DownloadNotes(directory: directory) }

    /// Creates the journal below a user's state directory, `$XDG_STATE_HOME`.
    package init(stateHome: FilePath) { downloads = DownloadNotes(stateHome: stateHome) }

    /// The contents of a journal.
    package struct Contents: Sendable {
        /// The records, in no particular order.
        package var files: [EvictedFile] = []
        /// The errors of records that are malformed or cannot be read.
        package var unreadable: [FileError] = []
    }

    /// Reads all records; there are none when the directory does not exist.
    ///
    /// - Throws: ``FileError`` when the directory cannot be read, is not owned by this process's
    ///   user, or is writable by other users.
    package func contents() throws(FileError) -> Contents {
        var contents = Contents()
        for name in try names(where: { _ in true }) {
            do throws(FileError) {
                if let file = try record(named: name) { contents.files.append(file) }
            } catch {
                contents.unreadable.append(error)
            }
        }
        return contents
    }

    /// Returns the names of the records that satisfy a predicate.
    private func names(where fits: (RecordName) -> Bool) throws(FileError) -> [FilePath] {
        guard try requireOwnStateDirectory(directory) else { return [] }
        var names: [FilePath] = []
        do throws(Errno) {
            try forEachName(in: directory) { name in
                if let record = RecordName(name), fits(record) { names.append(record.path) }
                return true
            }
        } catch {
            throw .readingDirectory(error, directory)
        }
        return names
    }

    /// Returns the record of a file, or nil.
    ///
    /// - Parameters:
    ///   - status: the file's status.
    ///   - path: the file's path. A record of the same inode with this path is the file's, even if
    ///     the device number has changed.
    /// - Throws: ``FileError``; `malformedValue` for a malformed record.
    package func record(
        of status: FileStatus, at path: @autoclosure () -> FilePath
    ) throws(FileError) -> EvictedFile? {
        if let file = try record(named: status.identity),
            file.isPersistentlyAbout(status) ?? true || file.path == path()
        {
            return file
        }
        let path = path()
        return try records(ofInode: status.identity.inode).first {
            $0.path == path || $0.isPersistentlyAbout(status) ?? false
        }
    }

    /// Returns the record of a file, identified only by device and inode.
    func record(named identity: FileIdentity) throws(FileError) -> EvictedFile? {
        try record(named: RecordName(identity).path)
    }

    private func records(ofInode inode: UInt64) throws(FileError) -> [EvictedFile] {
        var files: [EvictedFile] = []
        for name in try names(where: { $0.identity.inode == inode }) {
            if let file = try record(named: name) { files.append(file) }
        }
        return files
    }

    private func record(named name: FilePath) throws(FileError) -> EvictedFile? {
        let path = directory.pushing(name)
        guard let text = try contentsOfStateFile(path, limit: DownloadNotes.longestText) else {
            return nil
        }
        return try Self.record(text, at: path)
    }

    /// Parses a record and verifies that it is the one that its file name says.
    private static func record(
        _ text: [UInt8], at path: FilePath
    ) throws(FileError) -> EvictedFile {
        let file: EvictedFile
        do throws(MalformedRecord) {
            file = try EvictedFile(text: text)
        } catch {
            throw FileError(
                code: .malformedValue,
                message: "this record of an evicted file is malformed: \(error.reason)",
                path: path)
        }
        guard path.lastComponent == RecordName(file.identity).path.lastComponent else {
            throw FileError(
                code: .malformedValue, message: "this is the record of another evicted file",
                path: path)
        }
        return file
    }
}

extension Journal {
    /// Stores a record in place of the previous one; it is on disk when this returns.
    package func store(_ file: EvictedFile) throws(FileError) {
        try downloads.write(file.text, to: downloads.record(of: file.identity))
    }

    /// Removes the record of a file; the removal is on disk when this returns.
    package func removeRecord(of identity: FileIdentity) throws(FileError) {
        let path = downloads.record(of: identity)
        do throws(Errno) {
            try removeFile(path)
            let reference = OwnedDescriptor(try openDirectoryReference(directory))
            try synchronizeDirectory(reference.descriptor)
        } catch .noSuchFileOrDirectory, .notDirectory {
            return
        } catch {
            throw FileError(error, of: path)
        }
    }

    /// Stores the next state of an eviction or a download.
    ///
    /// On a full disk the state is not stored, and no error is thrown: the record on the file and the
    /// kept snapshot are enough to finish the operation.
    func storeStep(_ file: EvictedFile) throws(FileError) {
        do throws(FileError) {
            try store(file)
        } catch  where error.code == .noSpace || error.code == .quotaExceeded {
            return
        }
    }

    /// Locks the record of a file against other processes, and other callers in this process.
    ///
    /// - Returns: the lock, released with the last reference to it; nil when the record stays locked
    ///   for the short time that this waits.
    package func lock(_ identity: FileIdentity) throws(FileError) -> SharedDescriptor? {
        guard let (file, path) = try openLock() else { return nil }
        let lock = SharedDescriptor(file)
        do throws(Errno) {
            let offset = Int64(clamping: RecordName(identity).hash >> 2)
            return try waitForLock(onByte: offset, of: lock.descriptor) ? lock : nil
        } catch {
            throw FileError(error, of: path)
        }
    }

    private var lockPath: FilePath { directory.appending("lock") }

    /// Whether any process has taken a lock on the disk of the journal.
    var hasLocks: Bool {
        get throws(FileError) { try lockPath.withoutFollowing.statusIfPresent() != nil }
    }

    /// Opens the lock file; one in `$XDG_RUNTIME_DIR` if the disk has no space for the regular one.
    private func openLock() throws(FileError) -> (FileDescriptor, FilePath)? {
        do throws(FileError) {
            try makeStateDirectory(directory)
            return try openStateFile(lockPath, makingIt: true).map { ($0, lockPath) }
        } catch  where error.code == .noSpace || error.code == .quotaExceeded {
            guard let base = environmentVariable("XDG_RUNTIME_DIR"), !base.isEmpty else {
                throw error
            }
            let other = FilePath(bytes: base).appending(stateDirectoryName)
            try makeStateDirectory(other)
            let path = other.appending("evicted.lock")
            return try openStateFile(path, makingIt: true).map { ($0, path) }
        }
    }
}

extension Journal {
    /// Stores the location of a repository, so that downloads find it by the identifier in a record.
    package func note(repository: String, at location: [UInt8]) throws(FileError) {
        if try self.location(of: repository) == location { return }
        try downloads.write(location, to: directory.appending("repository-\(repository)"))
    }

    /// Returns the location of a repository when files were last evicted into it; nil if unknown.
    ///
    /// - Parameter repository: the identifier in a record.
    package func location(of repository: String) throws(FileError) -> [UInt8]? {
        try contentsOfStateFile(
            directory.appending("repository-\(repository)"), limit: DownloadNotes.longestText)
    }
}
