import SystemCalls
import SystemPackage

extension Restic {
    /// Removes locks whose processes have ended for certain, as SIGKILL and power cuts leave them.
    ///
    /// `restic unlock` is no help: it tells from a signal sent to the process number whether a
    /// process lives, so it removes the lock of another user's running restic and signals
    /// strangers. Here a lock goes only when all of this holds: the repository is a directory on a
    /// filesystem of this machine, so whoever uses it runs on this kernel; the lock names this
    /// machine; and nothing has the number of its process, in whatever container. Then its file is
    /// removed, by the name under which it was read, which no other lock will ever have.
    ///
    /// Everything else is left to people: locks do not keep `create` from running unless someone
    /// asked for the repository alone, and then `locked` is the answer.
    ///
    /// - Returns: how many locks were removed.
    @discardableResult
    package func removeDeadLocks() async throws(BackupError) -> Int {
        guard let directory = repository.directory, isOnThisMachine(directory),
            try !isEmptyOrAbsent(directory.appending("locks"))
        else { return 0 }
        var count = 0
        for lock in try await locks() where isDead(lock) {
            if try remove(lock, in: directory) { count += 1 }
        }
        return count
    }

    private func isDead(_ lock: ResticLock) -> Bool {
        lock.hostName == hostName()
            && ProcessTable().hasNone(numbered: lock.processIdentifier)
    }

    private func locks() async throws(BackupError) -> [ResticLock] {
        let output = try await run(
            ResticCommand("list", words("--no-lock"), on: words("locks")), reading: WholeOutput())
        var locks: [ResticLock] = []
        for line in output.bytes.split(separator: UInt8(ascii: "\n")) {
            let identifier = String(decoding: line, as: UTF8.self)
            guard identifier.isResticIdentifier else { continue }
            if let lock = try await lock(identifier) { locks.append(lock) }
        }
        return locks
    }

    /// nil when the lock is gone by now, or cannot be read.
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

    /// Whether a directory is on a filesystem that only this machine writes to.
    private func isOnThisMachine(_ directory: FilePath) -> Bool {
        do throws(Errno) {
            return localFilesystems.contains(try filesystemStatus(of: directory).type)
        } catch {
            return false
        }
    }
}

/// ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs, tmpfs and overlayfs (linux/magic.h).
private let localFilesystems: Set<UInt32> = [
    0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E, 0x0102_1994,
    0x794C_7630,
]
