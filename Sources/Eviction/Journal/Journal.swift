import ResourceValues
import SystemCalls
import SystemPackage

/// The journal of one user's evicted files: a directory with a file for each, named after the inode
/// and the device.
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
        /// The user the journal is of, whose files alone it is about.
        public let owner: UInt32
    }

    /// Reads all records; none when the directory does not exist.
    ///
    /// - Throws: ``FileError`` when the directory cannot be read, or is not one of this process's user
    ///   alone.
    public func contents() throws(FileError) -> Contents {
        var contents = Contents(owner: effectiveUser())
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
    /// Reads the journal of another user, who may have put anything in its place.
    ///
    /// Nothing is waited for, no link is followed below the home, and no more is read than an honest
    /// journal of some 100,000 files has.
    ///
    /// - Parameters:
    ///   - home: the user's home.
    ///   - owner: the user, who must own the journal and each record.
    /// - Returns: what makes sense of it; of records that do not, the first few are named.
    /// - Throws: ``FileError`` when the directory cannot be listed; `tooLarge` when it holds too much.
    public static func contents(
        below home: FilePath, ownedBy owner: UInt32
    ) throws(FileError) -> Contents {
        let journal = Journal(stateHome: ".local/state")
        let path = home.pushing(journal.directory)
        var contents = Contents(owner: owner)
        var names: [FilePath] = []
        do throws(Errno) {
            try forEachName(in: journal.directory, below: home, ownedBy: owner) { name in
                if let record = RecordName(name) { names.append(record.path) }
                return names.count <= foreignRecordLimit
            }
        } catch .noSuchFileOrDirectory {
            return contents
        } catch {
            throw .readingDirectory(error, path)
        }
        var bytes = 0
        for name in names {
            guard names.count <= foreignRecordLimit, bytes <= foreignByteLimit else {
                throw .opening(.fileTooLarge, path)
            }
            do throws(FileError) {
                let text = try foreignText(journal.directory.pushing(name), home, owner)
                bytes += text.count
                contents.files.append(try record(text, at: path.pushing(name)))
            } catch {
                if contents.unreadable.count < 10 { contents.unreadable.append(error) }
            }
        }
        return contents
    }

    private static func foreignText(
        _ path: FilePath, _ home: FilePath, _ owner: UInt32
    ) throws(FileError) -> [UInt8] {
        do throws(Errno) {
            return try contentsOfFile(
                path, below: home, ownedBy: owner, limit: EvictedFile.longestText)
        } catch {
            throw .opening(error, home.pushing(path))
        }
    }
}

private let foreignRecordLimit = 1 << 18
private let foreignByteLimit = 64 << 20

extension Journal {
    /// Stores a record in place of the one before; it is on the disk when this returns.
    public func store(_ file: EvictedFile) throws(FileError) {
        try makeStateDirectory(directory)
        let path = directory.pushing(RecordName(file.identity).path)
        let text = file.text
        var failure: FileError?
        text.withUnsafeBytes { bytes in
            do throws(FileError) {
                try writeFile(bytes, to: path, permissions: 0o600)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Removes the record of a file; its absence is on the disk when this returns.
    public func removeRecord(of identity: FileIdentity) throws(FileError) {
        let path = directory.pushing(RecordName(identity).path)
        do throws(Errno) {
            try removeFile(path)
            let reference = OwnedDescriptor(try openDirectoryReference(directory))
            try synchronizeDirectory(reference.descriptor)
        } catch .noSuchFileOrDirectory {
            return
        } catch {
            throw .changingItem(error, path)
        }
    }

    /// Locks the record of a file against other processes, and other users of this value.
    ///
    /// - Returns: nil when somebody else has it.
    public func lock(_ identity: FileIdentity) throws(FileError) -> RecordLock? {
        try makeStateDirectory(directory)
        let path = directory.appending("lock")
        guard let file = try openStateFile(path, makingIt: true) else { return nil }
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

    /// Notes why a file could not be brought back, before anything of it was touched; with
    /// nil, that this is about to be tried.
    ///
    /// Nothing is noted while another process works on the file.
    public func note(_ failure: String?, of file: EvictedFile) throws(FileError) {
        guard let lock = try lock(file.identity) else { return }
        defer { withExtendedLifetime(lock) {} }
        guard var record = try record(named: file.identity), record.state == .evicted,
            record.failure != failure
        else { return }
        record.failure = failure
        try store(record)
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
