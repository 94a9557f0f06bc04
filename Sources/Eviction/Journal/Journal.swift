import ResourceValues
import SystemCalls
import SystemPackage

/// The journal of one user's evictions and downloads in progress: a directory with a file for each,
/// named after the inode and the device.
///
/// That a file is evicted, and where its content is, stands on the file itself, as its
/// ``EvictionRecord``. The journal has what finishes a move that was cut off without the repository,
/// why downloads failed, and where repositories are.
///
/// One file an item: a change is one atomic replacement, on the disk before the call returns, so
/// neither a kill nor a power cut leaves half a record; two processes that work on two files never
/// meet; and one file's record is found without reading the others. Whoever works on an item holds
/// its ``lock(_:)``.
public struct Journal: Sendable, Hashable {
    /// The directory, which may not exist yet.
    public let directory: FilePath

    /// Creates a journal at a directory.
    public init(directory: FilePath) { self.directory = directory }

    /// The journal below a user's directory of state, `$XDG_STATE_HOME`.
    public init(stateHome: FilePath) {
        directory = stateHome.appending(stateDirectoryName).appending("evicted")
    }

    /// What the journal holds.
    public struct Contents: Sendable {
        /// The records, in no order.
        public var files: [EvictedFile] = []
        /// Files in the directory that are no records, or cannot be read.
        public var unreadable: [FileError] = []
    }

    /// Reads all records; none when the directory does not exist.
    ///
    /// - Throws: ``FileError`` when the directory cannot be read, or is not one of this process's user
    ///   alone.
    public func contents() throws(FileError) -> Contents {
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

    /// The names of those records whose names fit.
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

    /// The record of a file; nil when there is none.
    ///
    /// - Parameters:
    ///   - status: the file's.
    ///   - path: its path, by which a file is known whose device got another number, where its filesystem
    ///     does not tell.
    /// - Throws: ``FileError``; `malformedValue` for a record that makes no sense.
    public func record(
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

    /// The record of a file by nothing but device and inode.
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
        guard let text = try contentsOfStateFile(path, limit: EvictedFile.longestText) else {
            return nil
        }
        return try Self.record(text, at: path)
    }

    /// Reads the text of a record that has a name.
    private static func record(
        _ text: [UInt8], at path: FilePath
    ) throws(FileError) -> EvictedFile {
        let file: EvictedFile
        do throws(MalformedRecord) {
            file = try EvictedFile(text: text)
        } catch {
            throw FileError(
                code: .malformedValue,
                message: "this record of an evicted file makes no sense: \(error.reason)",
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
    /// Stores a record in place of the one before; it is on the disk when this returns.
    public func store(_ file: EvictedFile) throws(FileError) {
        try write(file.text, to: directory.pushing(RecordName(file.identity).path))
    }

    private func write(_ text: [UInt8], to path: FilePath) throws(FileError) {
        try makeStateDirectory(directory)
        let written = text.withUnsafeBytes { bytes in
            Result { () throws(FileError) in try writeFile(bytes, to: path, permissions: 0o600) }
        }
        try written.get()
    }

    /// Removes the record of a file; its absence is on the disk when this returns.
    public func removeRecord(of identity: FileIdentity) throws(FileError) {
        let path = directory.pushing(RecordName(identity).path)
        do throws(Errno) {
            try removeFile(path)
            let reference = OwnedDescriptor(try openDirectoryReference(directory))
            try synchronizeDirectory(reference.descriptor)
        } catch .noSuchFileOrDirectory, .notDirectory {
            return
        } catch {
            throw .changingItem(error, path)
        }
    }

    /// Stores the next step of a move.
    ///
    /// On a full disk the move goes on without: what the record on the file and the kept snapshot tell
    /// is enough to finish it.
    func storeStep(_ file: EvictedFile) throws(EvictionError) {
        do throws(FileError) {
            try store(file)
        } catch  where error.code == .noSpace || error.code == .quotaExceeded {
            return
        } catch {
            throw .file(error)
        }
    }

    /// Locks the record of a file against other processes, and other users of this value.
    ///
    /// - Returns: nil when somebody else has it.
    public func lock(_ identity: FileIdentity) throws(FileError) -> RecordLock? {
        guard let (file, path) = try openLock() else { return nil }
        let lock = RecordLock(file)
        do throws(Errno) {
            let offset = Int64(clamping: RecordName(identity).hash >> 2)
            try Patience().retry(while: { $0 == .wouldBlock }) { () throws(Errno) in
                guard try lockByte(at: offset, of: lock.descriptor) else { throw .wouldBlock }
            }
            return lock
        } catch .wouldBlock {
            return nil
        } catch {
            throw .changingItem(error, path)
        }
    }

    /// Opens the file of locks; one in `$XDG_RUNTIME_DIR` where the disk has no room for the first.
    private func openLock() throws(FileError) -> (FileDescriptor, FilePath)? {
        let path = directory.appending("lock")
        do throws(FileError) {
            try makeStateDirectory(directory)
            return try openStateFile(path, makingIt: true).map { ($0, path) }
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
    /// Notes why a file could not be brought back; with nil, that this is about to be tried.
    public func note(_ failure: String?, of identity: FileIdentity) throws(FileError) {
        let path = failurePath(identity)
        if let failure { return try write(Array(failure.utf8), to: path) }
        do throws(Errno) {
            try removeFile(path)
        } catch .noSuchFileOrDirectory, .notDirectory {
            return
        } catch {
            throw .changingItem(error, path)
        }
    }

    /// Why a file could not be brought back when that was last tried; nil when it was not, or when
    /// nobody knows.
    public func failure(of identity: FileIdentity) throws(FileError) -> String? {
        try contentsOfStateFile(failurePath(identity), limit: EvictedFile.longestText)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the content of a file is on its way back, or was when that was cut off.
    public func isDownloading(_ identity: FileIdentity) throws(FileError) -> Bool {
        try record(named: identity)?.state == .downloading
    }

    private func failurePath(_ identity: FileIdentity) -> FilePath {
        FilePath(bytes: directory.pushing(RecordName(identity).path).bytes + Array(".failure".utf8))
    }

    /// Notes where a repository is, so that downloads find it by the identifier that records have.
    public func note(repository: String, at location: [UInt8]) throws(FileError) {
        if try self.location(of: repository) == location { return }
        try write(location, to: directory.appending("repository-\(repository)"))
    }

    /// Where a repository was when files were last evicted into it; nil when nobody knows.
    ///
    /// - Parameter repository: the identifier in a record.
    public func location(of repository: String) throws(FileError) -> [UInt8]? {
        try contentsOfStateFile(
            directory.appending("repository-\(repository)"), limit: EvictedFile.longestText)
    }
}

/// Keeps others from a record while it lives.
public final class RecordLock: Sendable {
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit {
        // Nothing was written.
        closeQuietly(descriptor)
    }
}
