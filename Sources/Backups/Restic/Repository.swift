import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

package struct RepositoryLocation: Sendable, Hashable {
    package let bytes: [UInt8]
    /// The directory; nil for anything but a directory on this machine.
    package let directory: FilePath?

    /// Creates a location as restic takes it: `local:DIR`, `s3:…`, `sftp:…` and so on, or a directory.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
        let local = "local:".utf8
        if bytes.starts(with: local) {
            directory = FilePath(bytes: bytes.dropFirst(local.count))
            return
        }
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let isPath = scheme.count == bytes.count || scheme.contains(UInt8(ascii: "/"))
        directory = isPath ? FilePath(bytes: bytes) : nil
    }

    /// The identity of the repository's directory; nil when it is elsewhere or does not exist.
    package var identity: FileIdentity? {
        // The next caller that opens the repository reports what is wrong with it.
        directory.flatMap { try? $0.status().identity }
    }

    /// The bytes available to this user on the filesystem of the repository's directory; nil when it is
    /// elsewhere, or cannot be asked.
    package var availableBytes: Int64? {
        directory.flatMap { try? filesystemStatus(of: $0).availableBytes }
    }

    /// The location for messages and notes: without the user and password that it may contain.
    package var shown: [UInt8] {
        guard directory == nil else { return bytes }
        let url = bytes.firstRange(of: Array("://".utf8))?.upperBound
        let sftp = "sftp:".utf8
        guard let start = url ?? (bytes.starts(with: sftp) ? sftp.count : nil) else { return bytes }
        let end = UInt8(ascii: url == nil ? ":" : "/")
        guard let at = bytes[start...].prefix(while: { $0 != end }).lastIndex(of: UInt8(ascii: "@"))
        else { return bytes }
        return Array(bytes[..<start] + bytes[(at + 1)...])
    }

    /// The location as it can be noted: in a form that does not depend on the working directory, and
    /// without user and password.
    package var noted: [UInt8] { directory == nil ? shown : absoluteBytes }

    /// A short name of the place as it is named, whatever is mounted there now.
    var placeName: String {
        shortName(for: directory?.absoluteName.bytes ?? shown)
    }

    /// The location in a form that does not depend on the working directory.
    package var absoluteBytes: [UInt8] {
        // It was used just before, so it is unlikely that it cannot be found.
        directory.flatMap { try? realPath(of: $0).bytes } ?? bytes
    }

    /// A short name of the location, in hexadecimal, for files about the repository.
    package var fingerprint: String { shortName(for: absoluteBytes) }
}

/// A repository that snapshots were made in, as the state directory knows it: a line for each in the
/// file `backup/repository-PLACE`, for all configurations whose repository is at that place.
struct KnownRepository: Sendable, Hashable {
    var identifier: String
    /// The SHA-256 of the file `config`, by which the identifier is known without a start of restic; `-`
    /// for a repository that is not a directory.
    var config = "-"
    /// The UUID of the filesystem; `-` where it is not known.
    var filesystem = "-"

    /// Whether it is the same repository on the same filesystem, as far as both are known.
    func isSame(as other: KnownRepository) -> Bool {
        identifier == other.identifier
            && (filesystem == other.filesystem || [filesystem, other.filesystem].contains("-"))
    }
}

extension Restic {
    private var knownFile: FilePath? {
        stateDirectory?.appending("backup").appending("repository-\(repository.placeName)")
    }

    /// The repositories that backups were begun in at this place; none where that cannot be read, which
    /// is told: it is no reason to skip a backup.
    var known: [KnownRepository] {
        var bytes: [UInt8] = []
        do throws(FileError) {
            if let knownFile { bytes = try contentsOfStateFile(knownFile, limit: 1 << 16) ?? [] }
        } catch {
            warn("\(error.description), so it is not known whether this is the repository it was")
        }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let words = line.split(separator: UInt8(ascii: " "))
                .map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 3, words[0].isHexadecimal else { return nil }
            return KnownRepository(identifier: words[0], config: words[1], filesystem: words[2])
        }
    }

    /// Returns the repository that is there now. restic is started unless its `config` is that of a known
    /// one.
    func present(_ known: [KnownRepository]) async throws(BackupError) -> KnownRepository {
        try checkExistence()
        guard let directory = repository.directory else {
            return KnownRepository(identifier: try await repositoryIdentifier())
        }
        var found = KnownRepository(identifier: "")
        // What cannot be read here is what restic complains about.
        if let config = try? contentsOfFile(directory.appending("config"), limit: 1 << 20) {
            found.config = ContentHash(of: config).hexadecimal
        }
        found.filesystem = KnownVolumes.volumeRead(holding: directory)?.uuid ?? "-"
        let match = known.first { $0.config == found.config && found.config != "-" }
        if let match {
            found.identifier = match.identifier
        } else {
            found.identifier = try await repositoryIdentifier()
        }
        return found
    }

    /// Checks, before anything is written, that the repository answers, and is one that snapshots were
    /// made in at this place, if any was.
    ///
    /// - Throws: ``BackupError``: `noRepository` when it is another, or on another filesystem;
    ///   `unreachable`.
    package func requireKnown() async throws(BackupError) {
        let known = known
        guard !known.isEmpty || repository.directory == nil else { return }
        let found = try await present(known)
        guard let last = known.last, !known.contains(where: found.isSame) else { return }
        let isCopy = known.contains { $0.identifier == found.identifier }
        throw BackupError(
            .noRepository,
            isCopy
                ? "this is not the disk it was: the repository is on another filesystem"
                : "this is not the disk it was: repository \(found.identifier.prefix(8)) is here, and not "
                    + "\(last.identifier.prefix(8))",
            advice: "attach the other one; if this is right: resval-backup accept",
            path: repository.directory)
    }

    /// Notes the repository as one that snapshots are made in: before one is made, since its disk may be
    /// exchanged meanwhile.
    ///
    /// - Parameter isFirst: whether it is noted also where none is known.
    /// - Returns: whether only others were known.
    @discardableResult
    package func noteRepository(asFirst isFirst: Bool = true) async throws -> Bool {
        let known = known
        guard let knownFile, isFirst || !known.isEmpty else { return false }
        let found = try await present(known)
        if known.contains(found) { return false }
        let lines = known.filter { !$0.isSame(as: found) } + [found]
        try makeBackupDirectory(knownFile.removingLastComponent())
        try knownFile.writePrivateFile(
            lines.flatMap { "\($0.identifier) \($0.config) \($0.filesystem)\n".utf8 })
        return !known.isEmpty && lines.count > known.count
    }

    /// Whether no repository is in the directory where one was before: its disk is not attached.
    package var isDetached: Bool {
        guard let directory = repository.directory, !known.isEmpty else { return false }
        return (try? itemExists(directory.appending("config"))) == false
    }

    /// What is said where no repository is and one was before.
    var isGone: BackupError? {
        guard let last = known.last else { return nil }
        guard let directory = repository.directory else {
            return BackupError(
                .unreachable,
                "the repository cannot be reached: \(last.identifier.prefix(8)), which was there, is not "
                    + "found",
                advice: "check the network and the server")
        }
        return BackupError(
            .noRepository,
            "this is not the disk it was: repository \(last.identifier.prefix(8)) is not here",
            advice: "attach or mount its disk; if it was moved, change repository in backup.toml",
            path: directory)
    }
}

/// Where the files of a repository are, which are worth something without its `config`, too.
private let contentDirectories = ["keys", "data", "index", "snapshots"]

extension Restic {
    /// The file that says that a repository is being made at this place, where there was none: restic makes
    /// its key before its `config`, so one without the other may be what a killed process left. It has the pid
    /// of the process until the repository is made, and is locked as long as that works.
    private var beginning: FilePath? {
        stateDirectory?.appending("backup").appending("init-\(repository.placeName)")
    }

    /// Creates a repository, or goes on where this was interrupted.
    ///
    /// Refuses a directory with other files in it, which restic itself would accept. An existing repository
    /// is left to restic, which refuses it.
    ///
    /// - Throws: ``BackupError``: `locked` while another process makes one there, `repositoryExists`,
    ///   `damaged` where files of a repository are without its config, or the error that restic reports.
    package func initialize() async throws(BackupError) {
        let lock = try lockBeginning()
        defer { withExtendedLifetime(lock) {} }
        let wasBegun = wasBegun
        // Only what was not there before goes when it fails.
        let empty = try emptyDirectory()
        if let empty, wasBegun { try removeKeys(in: empty) }
        if let lock, empty != nil || repository.directory == nil {
            // Where it cannot be noted, only what a failure leaves goes, and not what a kill does.
            try? setSize(0, of: lock.descriptor)
            try? writeFile(lock.descriptor, Array("\(processNumber())".utf8))
        }
        do throws(BackupError) {
            _ = try await run(ResticCommand("init"), reading: NoOutput())
        } catch  where error.code == .repositoryExists && wasBegun {
            _ = try await repositoryIdentifier()
        } catch {
            var isLeft = empty != nil || error.code == .interrupted
            if let empty, (try? itemExists(empty.appending("config"))) == false,
                (try? removeKeys(in: empty)) != nil
            {
                isLeft = false
            }
            if !isLeft { noteEnd(in: lock) }
            throw error
        }
        // restic itself asks for keys and snapshots alone.
        for (type, name) in [("packs", "data"), ("index", "index")]
        where repository.directory == nil {
            let files = try await run(
                ResticCommand("list", words("--no-lock"), on: words(type)),
                reading: Lines(TextLines()))
            if !files.consumer.lines.isEmpty { throw lostConfig(name) }
        }
        noteEnd(in: lock)
        // Where it stays, the new one is told from the one it names, and accept notes it.
        if let knownFile { try? removeFile(knownFile) }
    }

    /// Locks it: another process would take the key of this one for what a killed one left. nil where no
    /// state can be kept, which is no reason to make no repository.
    private func lockBeginning() throws(BackupError) -> SharedDescriptor? {
        guard let beginning,
            (try? makeBackupDirectory(beginning.removingLastComponent())) != nil,
            let opened = (try? openStateFile(beginning, makingIt: true)) ?? nil
        else { return nil }
        let lock = SharedDescriptor(opened)
        // Some filesystems have no locks.
        guard (try? waitForLock(on: lock.descriptor)) ?? true else {
            throw BackupError(
                .locked, "process \(maker) makes a repository here already",
                advice: "wait until it has ended", path: repository.directory)
        }
        return lock
    }

    /// The pid of the process that makes a repository at this place, or was killed; empty for none.
    private var maker: String {
        // Where it cannot be read, nothing is removed that it could be about.
        let bytes = beginning.flatMap { (try? contentsOfStateFile($0, limit: 64)) ?? nil }
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    private var wasBegun: Bool { !maker.isEmpty }

    /// Refuses a directory in which ``initialize()`` would fail, as far as that can be known without a
    /// password.
    package func requireUsableDirectory() throws(BackupError) {
        guard var ancestor = try emptyDirectory() else { return }
        if let refusal = isOfAnotherOwner { throw refusal }
        // restic makes those that are missing. One that cannot be looked at is not passed over.
        while (try? itemExists(ancestor)) == false, ancestor.removeLastComponent() {}
        do throws(Errno) {
            guard try ancestor.status().kind == .directory else { throw .notDirectory }
            guard try ancestor.isAccessible(for: .write) else { throw .permissionDenied }
        } catch {
            throw BackupError(
                .notWritable, "no repository can be made here: \(error)",
                advice: "name another directory", path: ancestor)
        }
    }

    private func noteEnd(in lock: SharedDescriptor?) {
        // Where it stays, the next one finds a repository, and removes no key.
        if let lock { try? setSize(0, of: lock.descriptor) }
    }

    /// Returns the repository's directory where that has no repository and nothing else, but for keys where
    /// one was begun; nil where a repository is, or the place is elsewhere.
    private func emptyDirectory() throws(BackupError) -> FilePath? {
        guard let directory = repository.directory,
            (try? directory.appending("config").status()) == nil
        else { return nil }
        for name in contentDirectories where name != "keys" || !wasBegun {
            if try hasFiles(directory.appending(name), depth: 1) { throw lostConfig(name) }
        }
        let names = Set((contentDirectories + ["locks"]).map { Array($0.utf8) })
        guard try isEmptyOrAbsent(directory, but: names.contains) else {
            throw BackupError(
                .other, "the directory is not empty", advice: "name a new one",
                path: directory)
        }
        return directory
    }

    /// Removes the keys that an interrupted one left. No link is followed.
    private func removeKeys(in directory: FilePath) throws(BackupError) {
        if let refusal = isOfAnotherOwner { throw refusal }
        do throws(Errno) {
            let keys = try OpenDirectory(at: directory).openDirectory("keys")
            for name in try keys.names() { try keys.remove(name) }
        } catch .noSuchFileOrDirectory {
            // Nothing was begun.
        } catch {
            throw BackupError(
                .notWritable, "what an interrupted init left cannot be removed: \(error)",
                path: directory.appending("keys"))
        }
    }

    private func hasFiles(_ directory: FilePath, depth: Int) throws(BackupError) -> Bool {
        var names: [[UInt8]] = []
        _ = try isEmptyOrAbsent(directory) { name in
            names.append(name)
            return true
        }
        for name in names {
            let item = directory.pushing(FilePath(bytes: name))
            let kind = try? item.withoutFollowing.status().kind
            guard kind == .directory, depth > 0, try !hasFiles(item, depth: depth - 1) else {
                return true
            }
        }
        return false
    }

    /// The error where files of a repository are, and its `config` or keys are not.
    func lostConfig(_ directory: String) -> BackupError {
        BackupError(
            .damaged,
            "there are files of a repository in \(directory), but not what is needed to read them",
            advice: repository.directory == nil
                ? "put config and keys back from a copy, or name another location; where data, index and "
                    + "snapshots are empty, remove what an interrupted init left in keys"
                : "put config and keys back from a copy, or name another location",
            path: repository.directory)
    }

    /// Returns why a repository should not be made at this place without asking: one was there, or it is
    /// below a mount point where nothing is mounted. nil where there is no doubt.
    package var doubtAboutInitializing: String? {
        if let known = known.last {
            return
                "repository \(known.identifier.prefix(8)) was here, and may be on a disk that is not "
                + "attached now"
        }
        guard let directory = repository.directory, let mounts = try? MountTable.current() else {
            return nil
        }
        // The directories on the way may be missing.
        var there = directory
        var missing: [FilePath.Component] = []
        while (try? itemExists(there)) == false, let name = there.lastComponent {
            missing.insert(name, at: 0)
            there.removeLastComponent()
        }
        guard let real = try? realPath(of: there.isEmpty ? "." : there),
            let mount = mounts.mount(holding: real)
        else { return nil }
        let fstab = (try? contentsOfFile("/etc/fstab")).map(mountPoints(inFstab:)) ?? []
        let points = fstab + ["/media", "/run/media", "/mnt"]
        let path = real.appending(missing)
        let point = points.first { path.isHeld(by: $0) && !mount.mountPoint.isHeld(by: $0) }
        return point.map { "nothing is mounted at or below \($0)" }
    }

    /// Why root should write nothing into the repository; nil where that does no harm.
    var isOfAnotherOwner: BackupError? {
        guard effectiveUser() == 0, let directory = repository.directory,
            let owner = try? directory.status().owner, owner != 0
        else { return nil }
        // Some filesystems give every file to the same owner. Where nothing can be made, restic fails.
        guard let trial = try? OwnedDescriptor(makeScratchFile(in: directory)),
            (try? trial.descriptor.status().owner) != owner
        else { return nil }
        return BackupError(
            .notWritable,
            "uid \(owner) owns the repository, and could not use it any more with files of root in it",
            advice:
                "run this as that user: sudo -u '#\(owner)' resval-backup …, use a directory of root's, or "
                + "reach it as that user through sftp or rest", path: directory)
    }
}
