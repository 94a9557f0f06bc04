import EffectiveValues
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
        guard let stateDirectory, !isOnFUSE else { return false }
        let listed = try await lockIdentifiers()
        let dead = deadLocks(of: listed, in: stateDirectory.appending("backup"))
        guard !dead.isEmpty else { return false }
        guard let locks = repository.directory?.appending("locks") else {
            return dead.count == listed.count ? try await unlock() : false
        }
        // One that stays was renewed under another name meanwhile; or nothing can be removed here.
        return !dead.filter { (try? removeFile(locks.appending($0))) != nil }.isEmpty
    }

    private func lockIdentifiers() async throws(BackupError) -> [String] {
        var identifiers: [String] = []
        if let directory = repository.directory {
            // In a directory that cannot be read no lock can be removed; restic reports the error.
            identifiers = readableNames(in: directory.appending("locks"))
                .map { String(decoding: $0, as: UTF8.self) }
        } else {
            let (output, end) = try await attemptOnce(
                ResticCommand("list", words("--no-lock"), on: words("locks")),
                reading: Lines(TextLines()))
            if end.code == 0 { identifiers = output.consumer.lines }
        }
        return identifiers.filter(\.isResticIdentifier)
    }

    /// Records that locks are listed now, and returns those that are dead; none when that cannot be
    /// recorded.
    private func deadLocks(of identifiers: [String], in directory: FilePath) -> Set<String> {
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

    /// Runs `restic unlock` where no lock has this host's name. By its name, restic would judge a
    /// lock by whether a process has its pid here, and send that process a signal.
    ///
    /// - Returns: false where this machine allows no process to have a host name of its own.
    private func unlock() async throws(BackupError) -> Bool {
        var command = ResticCommand("unlock", words("--no-cache"))
        if let settings = settingsOfSSH { command.options.append(option("--option", settings)) }
        let arguments = command.arguments(opening: try await passwordOption())
        for starter in programs.startersUnderUnknownHost {
            let (_, end) = try await execute(
                arguments, startedBy: starter, reading: NoOutput())
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
    /// renewed elsewhere. A filesystem that cannot be asked proves nothing either.
    var isOnFUSE: Bool {
        guard let directory = repository.directory else { return false }
        // What cannot be asked is not known to be of a block device.
        let volume = (try? directory.status()).flatMap(Volume.init(holding:))
        return Self.isFUSE(
            (try? filesystemStatus(of: directory))?.type, volume?.mount.filesystemType)
    }

    /// One of a block device, such as NTFS, is this machine's alone.
    static func isFUSE(_ type: UInt32?, _ name: String?) -> Bool {
        type == nil || type == 0x6573_5546 && name != "fuseblk"
    }

    /// Whether locks can be written, as far as this machine can tell: a full disk, or a remote
    /// repository, shows only when restic runs, which reports any other error, too.
    var locksCanBeWritten: Bool {
        guard let locks = repository.directory?.appending("locks") else { return true }
        return [.write, .execute].allSatisfy { (try? locks.isAccessible(for: $0)) != false }
    }

    var locksNotWritable: BackupError {
        BackupError(
            .notWritable, "the repository's directory of locks cannot be written to",
            advice: "check its owner, permissions and mount options",
            path: repository.directory?.appending("locks"))
    }
}

extension ResticPrograms {
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

extension ResticEnd {
    /// Whether restic ended because it could not write a lock, not because another process has one.
    var tellsOfUnwritableLock: Bool {
        code == 1 && errors.line(containing: "unable to create lock in backend") != nil
    }
}

/// For how long the locks of a repository have been seen, as a file in the state directory records.
///
/// restic renews a lock every five minutes under another identifier, and stops its work when it could
/// not for 22. So a lock whose identifier stayed for 31 minutes is dead, whatever machine, clock or
/// process it is from. Only time that passed between two sights in the same boot counts, which adds up
/// over runs and boots. In doubt a lock was seen for a shorter time: two programs that write the file
/// at once can lose sights, and never make some up.
struct LockSights: Sendable, Hashable {
    private struct Sight: Hashable {
        /// The identifier of the boot of the last sight.
        let boot: String
        /// The time of that sight since that boot, in seconds.
        let last: Int64
        /// For how long the lock had been seen by then, in seconds.
        let age: Int64
    }

    static let deadAge: Int64 = 31 * 60
    /// The number of locks that are recorded; further ones are never dead.
    static let limit = 10_000
    /// The most bytes that a file of so many locks has.
    static let longestFile = limit * 300

    private var sights: [String: Sight] = [:]

    /// Parses the contents of a file. A line that is not exactly as ``contents`` has it is ignored.
    init(_ contents: [UInt8] = []) {
        let lines = contents.split(separator: UInt8(ascii: "\n")).compactMap(Self.parse)
        sights = Dictionary(lines) { $0.age < $1.age ? $0 : $1 }
    }

    /// The contents of the file: on a line for each lock its identifier, that of the boot, the time of
    /// the last sight, and for how long it was seen, with spaces between them.
    var contents: [UInt8] {
        sights.sorted { $0.key < $1.key }.flatMap { Self.line($0.key, $0.value).utf8 }
    }

    /// Records that locks are listed now. Those that are not are forgotten.
    ///
    /// - Parameters:
    ///   - bootTime: the time since that boot, in seconds, including that in suspend.
    /// - Returns: the identifiers of the dead ones.
    mutating func see(
        _ identifiers: [String], bootIdentifier: String, bootTime: Int64
    ) -> Set<String> {
        let known = sights
        sights = [:]
        for identifier in identifiers.sorted().prefix(Self.limit) {
            var age: Int64 = 0
            if let before = known[identifier] {
                if before.boot != bootIdentifier {
                    age = before.age
                } else if before.last <= bootTime {
                    age = before.age.addingSaturating(bootTime - before.last)
                }
            }
            sights[identifier] = Sight(boot: bootIdentifier, last: bootTime, age: age)
        }
        return Set(sights.filter { $0.value.age >= Self.deadAge }.keys)
    }

    private static func line(_ identifier: String, _ sight: Sight) -> String {
        "\(identifier) \(sight.boot) \(sight.last) \(sight.age)\n"
    }

    private static func parse(_ line: ArraySlice<UInt8>) -> (String, Sight)? {
        let words = line.split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 4, let last = Int64(words[2]), let age = Int64(words[3]), last >= 0,
            age >= 0
        else { return nil }
        let sight = Sight(boot: words[1], last: last, age: age)
        let isExact = Self.line(words[0], sight).utf8.dropLast().elementsEqual(line)
        return isExact ? (words[0], sight) : nil
    }
}
