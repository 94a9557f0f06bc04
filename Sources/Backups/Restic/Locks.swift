import ResourceValues
import SystemCalls
import SystemPackage

extension Restic {
    /// For how long restic waits for the locks of other processes, in its syntax.
    static let lockWait = "5m"

    /// Removes locks that were seen for so long that their processes have certainly ended, or have
    /// given up: ``LockSights``. Where sights cannot be kept, none is dead.
    ///
    /// In a directory only the files of such locks are removed. Any other repository is unlocked by
    /// restic, and only if all its locks are dead: restic removes whatever is older than 30 minutes
    /// by this machine's clock.
    ///
    /// - Returns: whether a lock may have been removed.
    /// - Throws: ``BackupError`` `interrupted`, and when restic cannot be started.
    @discardableResult
    func removeDeadLocks() async throws(BackupError) -> Bool {
        guard stateDirectory != nil, !isOnFUSE else { return false }
        let listed = try await lockIdentifiers()
        let dead = deadLocks(of: listed)
        guard !dead.isEmpty else { return false }
        if let locks = repository.directory?.appending("locks") {
            return !dead.filter { remove(locks.appending($0)) }.isEmpty
        }
        guard dead.count == listed.count else { return false }
        return try await unlock()
    }

    private func lockIdentifiers() async throws(BackupError) -> [String] {
        guard let directory = repository.directory else {
            let (output, end) = try await attemptOnce(
                ResticCommand("list", words("--no-lock"), on: words("locks")),
                reading: WholeOutput())
            guard end.code == 0 else { return [] }
            return String(decoding: output.bytes, as: UTF8.self).split(separator: "\n")
                .map(String.init).filter(\.isResticIdentifier)
        }
        var identifiers: [String] = []
        // In a directory that cannot be read no lock can be removed; restic reports the error.
        try? forEachName(in: directory.appending("locks")) { name in
            identifiers.append(String(decoding: name, as: UTF8.self))
            return true
        }
        return identifiers.filter(\.isResticIdentifier)
    }

    /// Records that locks are listed now, and returns those that are dead; none when that cannot be
    /// recorded.
    private func deadLocks(of identifiers: [String]) -> Set<String> {
        guard let directory = stateDirectory?.appending("backup") else { return [] }
        let file = directory.appending("locks-\(repository.fingerprint)")
        do throws(FileError) {
            // Sights that cannot be read begin anew: no lock is dead before its time.
            let known = (try? contentsOfStateFile(file, limit: LockSights.longestFile)) ?? []
            if identifiers.isEmpty && known.isEmpty { return [] }
            var sights = LockSights(known)
            let dead = sights.see(
                identifiers, bootIdentifier: try bootIdentifier(),
                bootTime: timeSinceBoot().components.seconds)
            try makeBackupDirectory(directory)
            try file.writePrivateFile(sights.contents)
            return dead
        } catch {
            return []
        }
    }

    private func remove(_ lock: FilePath) -> Bool {
        do throws(Errno) {
            try removeFile(lock)
            return true
        } catch {
            // Removed meanwhile, or renewed under another name; or nothing can be removed here.
            return false
        }
    }

    /// Runs `restic unlock` where no lock has this host's name. By its name, restic would judge a
    /// lock by whether a process has its pid here, and send that process a signal.
    ///
    /// - Returns: false where this machine allows no process to have a host name of its own.
    private func unlock() async throws(BackupError) -> Bool {
        var command = ResticCommand("unlock", words("--no-cache"))
        if let settings = settingsOfSSH { command.options.append(option("--option", settings)) }
        for starter in program.startersUnderUnknownHost {
            let (_, end) = try await execute(
                command.arguments(opening: passwordOption), startedBy: starter, reading: NoOutput())
            if end.code == 0 { return true }
        }
        return false
    }

    /// The option that makes ssh read the user's configuration alone. In a user namespace the files in
    /// `/etc/ssh/ssh_config.d` appear to be owned by `nobody`, and ssh refuses them. nil where that is not so.
    private var settingsOfSSH: String? {
        guard repository.bytes.starts(with: "sftp:".utf8), effectiveUser() != 0 else { return nil }
        let file = environmentValue("HOME").map { FilePath(bytes: $0).appending(".ssh/config") }
        // One that cannot be read is of no use to ssh, and restic splits the words at quotes.
        guard let file, !file.bytes.contains(UInt8(ascii: "'")), (try? itemExists(file)) == true
        else { return "sftp.args=-F none" }
        return "sftp.args=-F '\(file.string)'"
    }

    /// Whether the repository is a directory on a FUSE filesystem, which may list what has long been
    /// renewed elsewhere.
    private var isOnFUSE: Bool {
        guard let directory = repository.directory else { return false }
        // A filesystem that cannot be asked proves nothing either.
        guard let status = try? filesystemStatus(of: directory) else { return true }
        return status.type == 0x6573_5546
    }

    /// What to do about a lock.
    var lockAdvice: String {
        isOnFUSE
            ? "wait until it is done; what a FUSE filesystem lists does not show that a process died"
            : "wait until it is done; the lock of a process that died is removed when it was seen "
                + "unchanged for 31 minutes"
    }
}

extension ResticProgram {
    /// The words that start a program in a UTS namespace of its own, under a host name that no host
    /// has: ways to try one after the other, since each may be refused. None where util-linux'
    /// unshare, or hostname, is missing.
    fileprivate var startersUnderUnknownHost: [[[UInt8]]] {
        guard let unshare, let hostname else { return [] }
        let name = "resval-" + String(UInt64.random(in: .min ... .max), radix: 16)
        let script = """
            "$0" "$1" && read -r name < /proc/sys/kernel/hostname && [ "$name" = "$1" ] && shift &&
                exec "$@"
            """
        let user = ["--user", "--map-current-user", "--keep-caps", "--uts"]
        // Root itself may lack the capability, as in a service.
        return (effectiveUser() == 0 ? [["--uts"], user] : [user]).map { options in
            [unshare.bytes] + (options + ["--", "/bin/sh", "-c", script]).map { Array($0.utf8) }
                + [hostname.bytes, Array(name.utf8)]
        }
    }
}

extension Restic {
    /// Whether locks can be written, as far as this machine can tell: a full disk, or a remote
    /// repository, shows only when restic runs.
    var locksCanBeWritten: Bool {
        guard let locks = repository.directory?.appending("locks") else { return true }
        do throws(Errno) {
            guard try locks.isAccessible(for: .write) else { return false }
            return try locks.isAccessible(for: .execute)
        } catch {
            // restic reports the error.
            return true
        }
    }

    /// The error when locks cannot be written, thrown early because restic would retry for most of
    /// a minute.
    var locksNotWritable: BackupError {
        BackupError(
            .notWritable, "the repository's directory of locks cannot be written to",
            advice: "check its owner, permissions and mount options",
            path: repository.directory?.appending("locks"))
    }
}

extension ResticCommand {
    /// Whether it changes nothing in the repository, and so can run without a lock.
    var onlyReads: Bool {
        ["cat", "check", "diff", "dump", "find", "list", "ls", "restore", "snapshots", "stats"]
            .contains(name)
    }

    /// Whether it has an option.
    func has(_ option: String) -> Bool { options.contains(Array(option.utf8)) }

    /// Adds an option unless it is already there.
    mutating func set(_ option: String) {
        if !has(option) { options.append(Array(option.utf8)) }
    }
}

extension ResticEnd {
    /// Whether restic ended because it could not write a lock, not because another process has one.
    var tellsOfUnwritableLock: Bool {
        code == 1
            && FailureText(errors.lines).line(containing: "unable to create lock in backend") != nil
    }
}

extension ResticEnvironment {
    /// The least free space, in bytes, with which the cache is used.
    private static let smallestRoom: UInt64 = 16 << 20

    /// Whether there is too little space where restic keeps its cache.
    var cacheIsFull: Bool {
        guard var directory = cacheDirectory else { return false }
        while true {
            do throws(Errno) {
                let status = try filesystemStatus(of: directory)
                let blocks = effectiveUser() == 0 ? status.freeBlocks : status.availableBlocks
                return blocks.multipliedReportingOverflow(by: status.fragmentSize)
                    .partialValue < Self.smallestRoom
            } catch .noSuchFileOrDirectory where !directory.isEmpty && directory.isAbsolute {
                guard directory.removeLastComponent() else { return false }
            } catch {
                // restic reports the error.
                return false
            }
        }
    }
}
