import CLinux
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
        directory = stateHome.appending("resval").appending("evicted")
    }

    /// What the journal holds.
    public struct Contents: Sendable {
        /// The records, in no order.
        public var files: [EvictedFile] = []
        /// Files in the directory that are no records, or cannot be read.
        public var unreadable: [FileError] = []
        /// The owner of the journal, whose files alone it is about; nil when there is no journal.
        public var owner: UInt32?
    }

    /// Reads all records; none when the directory does not exist.
    ///
    /// - Throws: ``FileError`` when the directory cannot be read.
    public func contents() throws(FileError) -> Contents {
        var contents = Contents()
        var names: [FilePath] = []
        do throws(Errno) {
            contents.owner = try directory.status().owner
            try forEachName(in: directory) { name in
                if RecordName(name) != nil { names.append(FilePath(bytes: Array(name))) }
                return true
            }
        } catch .noSuchFileOrDirectory {
            return contents
        } catch {
            throw .readingDirectory(error, directory)
        }
        for name in names {
            do throws(FileError) {
                if let file = try record(named: name) { contents.files.append(file) }
            } catch {
                contents.unreadable.append(error)
            }
        }
        return contents
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
        var names: [FilePath] = []
        do throws(Errno) {
            try forEachName(in: directory) { name in
                if RecordName(name)?.identity.inode == inode {
                    names.append(FilePath(bytes: Array(name)))
                }
                return true
            }
        } catch .noSuchFileOrDirectory {
            return []
        } catch {
            throw .readingDirectory(error, directory)
        }
        var files: [EvictedFile] = []
        for name in names {
            if let file = try record(named: name) { files.append(file) }
        }
        return files
    }

    private func record(named name: FilePath) throws(FileError) -> EvictedFile? {
        let path = directory.pushing(name)
        let text: [UInt8]
        do throws(Errno) {
            text = try contentsOfFile(path)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw .opening(error, path)
        }
        let file: EvictedFile
        do throws(MalformedRecord) {
            file = try EvictedFile(text: text)
        } catch {
            throw FileError(
                code: .malformedValue,
                message: "this record of an evicted file makes no sense: \(error.reason)",
                path: path)
        }
        guard RecordName(file.identity).path == name else {
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
        try makeDirectories()
        let path = directory.pushing(RecordName(file.identity).path)
        let text = file.text
        var failure: FileError?
        text.withUnsafeBytes { bytes in
            do throws(FileError) {
                try writeFile(bytes, to: path)
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
        try makeDirectories()
        do throws(Errno) {
            let reference = OwnedDescriptor(try openDirectoryReference(directory))
            let lock = RecordLock(try openLockFile("lock", in: reference.descriptor))
            let offset = Int64(clamping: RecordName(identity).hash >> 2)
            try Patience().retry(while: { $0 == .wouldBlock }) { () throws(Errno) in
                guard try lockByte(at: offset, of: lock.descriptor) else { throw .wouldBlock }
            }
            return lock
        } catch .wouldBlock {
            return nil
        } catch {
            throw .changingItem(error, directory)
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

    private func makeDirectories() throws(FileError) {
        do throws(Errno) {
            guard try !exists(directory) else { return }
            var path = FilePath(root: directory.root, [])
            for component in directory.components {
                path.append(component)
                if try exists(path) { continue }
                do throws(Errno) {
                    try makeDirectory(path, permissions: 0o700)
                } catch .fileExists {
                    // Another process was quicker.
                }
            }
        } catch {
            throw .changingItem(error, directory)
        }
    }

    private func exists(_ path: FilePath) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try path.status()
            return true
        } catch .noSuchFileOrDirectory {
            return false
        }
    }

    private func makeDirectory(_ path: FilePath, permissions: UInt16) throws(Errno) {
        guard let name = path.lastComponent else { throw .invalidArgument }
        let parent = OwnedDescriptor(try openDirectoryReference(path.removingLastComponent()))
        try SystemCalls.makeDirectory(
            FilePath(root: nil, [name]), in: parent.descriptor, permissions: permissions)
        try synchronizeDirectory(parent.descriptor)
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
