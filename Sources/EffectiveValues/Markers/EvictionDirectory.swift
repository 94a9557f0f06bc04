import ResourceValues
import SystemCalls
import SystemPackage

/// What evictions and downloads keep in a user's state directory: a file with a lock for each item
/// that is worked on, and the locations of repositories.
///
/// That a file is evicted, where its content is, and how it was before, is recorded on the file
/// itself, as its ``EvictionRecord``. Without this directory nothing is lost.
package struct EvictionDirectory: Sendable, Hashable {
    /// The directory, which may not exist yet.
    package let path: FilePath

    package init(path: FilePath) { self.path = path }

    package init(stateHome: FilePath) {
        path = stateHome.appending(stateDirectoryName).appending("evicted")
    }

    /// Locks a file against evictions and downloads by other processes and other callers in this one.
    ///
    /// - Returns: the lock, released with the last reference to it; nil when the file stays locked
    ///   for the short time that this waits.
    package func lock(_ identity: FileIdentity) throws(FileError) -> SharedDescriptor? {
        guard let (file, path) = try openLock() else { return nil }
        let lock = SharedDescriptor(file)
        // A collision is rare, and makes two files share a lock.
        let mixed = identity.inode &* 0x9E37_79B9_7F4A_7C15 ^ identity.device
        return try calls(on: path) { () throws(Errno) in
            try waitForLock(onByte: Int64(mixed >> 2), of: lock.descriptor) ? lock : nil
        }
    }

    private var lockPath: FilePath { path.appending("lock") }

    /// Whether any process has taken a lock on the disk of the directory.
    package var hasLocks: Bool {
        get throws(FileError) { try lockPath.withoutFollowing.statusIfPresent() != nil }
    }

    /// Opens the lock file; one in `$XDG_RUNTIME_DIR` if the disk has no space for the regular one.
    private func openLock() throws(FileError) -> (FileDescriptor, FilePath)? {
        do throws(FileError) {
            try makeStateDirectory(path)
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

    /// Stores the location of a repository, so that downloads find it by the identifier in a record.
    package func note(repository: String, at location: [UInt8]) throws(FileError) {
        if try self.location(of: repository) == location { return }
        try makeStateDirectory(path)
        try notePath(repository).writePrivateFile(location)
    }

    /// Returns the location of a repository when files were last evicted into it; nil if unknown.
    package func location(of repository: String) throws(FileError) -> [UInt8]? {
        try contentsOfStateFile(notePath(repository), limit: 1 << 16)
    }

    private func notePath(_ repository: String) -> FilePath {
        path.appending("repository-\(repository)")
    }
}
