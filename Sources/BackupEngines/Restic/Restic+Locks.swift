import ResourceValues
import SystemCalls
import SystemPackage

extension Restic {
    /// Removes locks whose processes have certainly ended, as left by SIGKILL and power failures.
    ///
    /// `restic unlock` is not safe: it relies on the host name and on a signal sent to the pid, so
    /// it removes the lock of another machine with the same name, and it signals unrelated
    /// processes. Here a lock is removed only if the repository is a directory on a filesystem of
    /// this machine, the lock names this machine, and
    ///
    /// - its process was started by this program, according to a note, and has ended; or
    /// - it is as old as restic itself requires, 30 minutes without being refreshed, and no process
    ///   has its pid, in any container.
    ///
    /// The file is removed by the name under which it was read, which no other lock will ever have:
    /// a lock that is refreshed meanwhile gets another name.
    ///
    /// All other locks are left to the user. They do not keep `create` from running unless a
    /// process has locked the repository exclusively; then `locked` is reported.
    ///
    /// - Returns: the number of locks removed.
    @discardableResult
    package func removeDeadLocks() async throws(BackupError) -> Int {
        guard let directory = localDirectory, locksCanBeWritten else { return 0 }
        let ended = StartedProcess.all(on: directory).filter(\.hasEnded)
        var count = 0
        var hasUnread = false
        for identifier in try lockIdentifiers(in: directory) {
            guard let lock = try await lock(identifier) else {
                hasUnread = true
                continue
            }
            if isDead(lock, ended, in: directory), try remove(lock, in: directory) { count += 1 }
        }
        // An unreadable lock may belong to one of these processes.
        if !hasUnread { for process in ended { process.forget() } }
        return count
    }

    /// The repository's directory, if it is on a filesystem that only this machine writes to;
    /// otherwise nil.
    var localDirectory: FilePath? {
        repository.directory.flatMap { isOnThisMachine($0) ? $0 : nil }
    }

    private func isDead(
        _ lock: ResticLock, _ ended: [StartedProcess], in directory: FilePath
    ) -> Bool {
        guard lock.hostName == hostName() else { return false }
        let isOurs = ended.contains {
            $0.number == lock.processIdentifier && $0.begin <= lock.time
        }
        return isOurs
            || isOld(lock, in: directory)
                && ProcessTable().hasNone(numbered: lock.processIdentifier)
    }

    private func isOld(_ lock: ResticLock, in directory: FilePath) -> Bool {
        do throws(Errno) {
            let file = try directory.appending("locks").appending(lock.identifier).withoutFollowing
                .status()
            return lock.isOld(written: file.contentModificationTime, now: FileTime.now)
        } catch {
            // Removed, or refreshed under another name.
            return false
        }
    }

    private func lockIdentifiers(in directory: FilePath) throws(BackupError) -> [String] {
        let locks = directory.appending("locks")
        var identifiers: [String] = []
        do throws(Errno) {
            try forEachName(in: locks) { name in
                identifiers.append(String(decoding: name, as: UTF8.self))
                return true
            }
        } catch .noSuchFileOrDirectory {
            return []
        } catch {
            throw BackupError(.other, "cannot be read as a directory: \(error)", path: locks)
        }
        return identifiers.filter(\.isResticIdentifier)
    }

    /// Returns a lock; nil if it was removed meanwhile or cannot be read.
    private func lock(_ identifier: String) async throws(BackupError) -> ResticLock? {
        let command = ResticCommand("cat", words("--no-lock"), on: words("lock", identifier))
        let (output, end) = try await attempt(command, reading: WholeOutput())
        guard end.code == 0 else { return nil }
        do throws(JSONError) {
            return try ResticLock(identifier: identifier, json: output.bytes)
        } catch {
            return nil
        }
    }

    private func remove(_ lock: ResticLock, in directory: FilePath) throws(BackupError) -> Bool {
        let file = directory.appending("locks").appending(lock.identifier)
        do throws(Errno) {
            try removeFile(file)
            return true
        } catch .noSuchFileOrDirectory {
            return false
        } catch {
            throw BackupError(
                .notWritable, "a lock of a process that has ended cannot be removed: \(error)",
                path: file)
        }
    }

    /// Returns whether a directory is on a filesystem that only this machine writes to.
    private func isOnThisMachine(_ directory: FilePath) -> Bool {
        do throws(Errno) {
            return localFilesystems.contains(try filesystemStatus(of: directory).type)
        } catch {
            return false
        }
    }
}

/// The types of local filesystems: ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs, tmpfs and
/// overlayfs (`linux/magic.h`).
let localFilesystems: Set<UInt32> = [
    0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E, 0x0102_1994,
    0x794C_7630,
]

/// A lock in a repository.
struct ResticLock: Sendable, Hashable {
    /// The name of its file.
    let identifier: String
    /// The host name of the process that holds it.
    let hostName: String
    /// The pid of that process on its host.
    let processIdentifier: Int32
    /// When it was made; restic replaces it every five minutes.
    let time: FileTime

    /// Parses the output of `restic cat lock`.
    init(identifier: String, json: [UInt8]) throws(JSONError) {
        var hostName = ""
        var processIdentifier: Int64 = 0
        var time: FileTime?
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "hostname": hostName = try scanner.text()
            case "time": time = FileTime(rfc3339: try scanner.string())
            case "pid": processIdentifier = try scanner.integer()
            default: break
            }
        }
        guard let process = Int32(exactly: processIdentifier), process > 0, let time else {
            throw JSONError(offset: 0)
        }
        self.time = time
        self.identifier = identifier
        self.hostName = hostName
        self.processIdentifier = process
    }

    /// Whether it has not been refreshed for as long as restic itself waits before it removes a
    /// lock.
    ///
    /// - Parameters:
    ///   - written: the modification time of its file, by the clock of the machine with the
    ///     repository.
    ///   - now: the current time.
    func isOld(written: FileTime, now: FileTime) -> Bool {
        let limit: Int64 = 30 * 60
        return [time, written].allSatisfy { now.seconds.subtractingSaturating($0.seconds) > limit }
    }
}
