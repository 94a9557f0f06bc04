import Eviction
import ResourceValues
import SystemCalls
import SystemPackage

/// The tag that proves a snapshot's record.
enum RecordHash {
    private static let prefix = "resval-record-hash="

    static func tag(_ hash: String) -> String { prefix + hash }

    /// Returns the SHA-256 in a list of tags; nil if there is none, or several.
    static func hash(in tags: [String]) -> String? {
        let named = Set(tags.filter { $0.hasPrefix(prefix) })
        guard named.count == 1, let tag = named.first else { return nil }
        return ContentHash(hexadecimal: tag.utf8.dropFirst(prefix.utf8.count))?.hexadecimal
    }
}

/// What this installation knows of the records that it made: `backup/records/REPOSITORY/HASH` in the
/// state directory, a file for each record. It is empty from before restic is started until the
/// snapshot is judged, and has the verdict then.
///
/// So a snapshot that another machine made with a copy of this state is told from one made here, and
/// one whose process was killed from one that lacks nothing.
struct RecordNotes: Sendable {
    private let directory: FilePath
    private let repository: String
    /// The most bytes that a verdict has.
    private static let longestVerdict = 64 << 20

    /// - Parameters:
    ///   - state: the programs' directory for state.
    ///   - repository: the fingerprint of the repository's location.
    init(in state: FilePath, of repository: String) {
        directory = state.appending("backup").appending("records")
        self.repository = repository
    }

    /// Notes a record, or what was found out about its snapshot.
    func note(_ hash: String, _ verdict: [UInt8] = []) throws(FileError) {
        let file = directory.appending(repository).appending(hash)
        try makeBackupDirectory(file.removingLastComponent())
        try verdict.withUnsafeBufferPointer { bytes throws(FileError) in
            try file.writeFile(UnsafeRawBufferPointer(bytes), permissions: 0o600)
        }
    }

    /// Returns what was found out about a record's snapshot: nothing if it was not judged, nil if the
    /// record was not made here. It may have been made for the repository at another location.
    func contents(of hash: String) -> [UInt8]? {
        var places = [repository]
        // Where there is no such directory, nothing was noted.
        try? forEachName(in: directory) { name in
            places.append(String(decoding: name, as: UTF8.self))
            return true
        }
        for place in places {
            let file = directory.appending(place).appending(hash)
            // What cannot be read is not known.
            if let found = try? contentsOfStateFile(file, limit: Self.longestVerdict) {
                return found
            }
        }
        return nil
    }

    /// Removes what is known of snapshots that are gone.
    ///
    /// - Parameter hashes: of the records of all snapshots in the repository.
    func remove(except hashes: Set<String>) {
        let place = directory.appending(repository)
        let now = FileTime.now.seconds
        // What stays takes some space, and does no harm.
        try? forEachName(in: place) { name in
            guard !hashes.contains(String(decoding: name, as: UTF8.self)) else { return true }
            let file = place.pushing(FilePath(bytes: name))
            // restic may be making the snapshot.
            if let made = try? file.withoutFollowing.status().contentModificationTime.seconds,
                now.subtractingSaturating(made) > 86400
            {
                try? removeFile(file)
            }
            return true
        }
    }
}

extension Restic {
    var notes: RecordNotes? {
        stateDirectory.map { RecordNotes(in: $0, of: repository.fingerprint) }
    }

    /// Whether a snapshot was made by this installation.
    func isNoted(_ snapshot: Snapshot) -> Bool {
        snapshot.recordHash.flatMap { notes?.contents(of: $0) } != nil
    }

    /// Returns what is known of a snapshot that this installation made and judged; nil otherwise.
    func verdict(on snapshot: Snapshot) -> Recorded? {
        guard let hash = snapshot.recordHash, let bytes = notes?.contents(of: hash), !bytes.isEmpty
        else { return nil }
        var lines = Lines(SnapshotRecordReader(RecordedSnapshotReader(snapshot)))
        do throws(BackupError) {
            try lines.receive(bytes)
            try lines.finish()
            try lines.consumer.checkEnd()
            return lines.consumer.handler.recorded
        } catch {
            // As if it had been killed before it was judged.
            return nil
        }
    }

    /// The identifier of this installation, 16 hexadecimal digits: a random one that the state directory
    /// keeps. Where it can keep none, another one in each process, so that nothing is ever forgotten.
    package var installation: String {
        installationCache.withLock { known in
            if let known { return known }
            var found = randomIdentifier()
            do throws(FileError) {
                if let directory = stateDirectory?.appending("backup") {
                    let kept = try readInstallation(in: directory)
                    if let kept {
                        found = kept
                    } else {
                        found = try makeInstallation(in: directory)
                    }
                }
            } catch {
                warn(
                    "the identifier of this installation cannot be kept (\(error.description)), so its "
                        + "snapshots belong to no earlier ones")
            }
            known = found
            return found
        }
    }

    /// Whether the state directory keeps the identifier of this installation.
    var keepsInstallation: Bool {
        let kept = stateDirectory.flatMap { try? readInstallation(in: $0.appending("backup")) }
        return kept == installation
    }

    /// Goes on under another identifier, or under a new one.
    ///
    /// - Returns: the identifier.
    @discardableResult
    func continueAs(_ installation: String?) throws(FileError) -> String {
        guard let stateDirectory else { return self.installation }
        let chosen = installation ?? randomIdentifier()
        let made = try makeInstallation(
            in: stateDirectory.appending("backup"), replacing: chosen)
        installationCache.withLock { $0 = made }
        return made
    }
}

/// Creates a directory at or below `backup` in the state directory if it is missing. What is there belongs
/// to this machine, and is excluded from backups.
package func makeBackupDirectory(_ directory: FilePath) throws(FileError) {
    var top = directory
    while let name = top.lastComponent, name.string != "backup" { top.removeLastComponent() }
    let isNew = (try? itemExists(top)) == false
    try makeStateDirectory(directory)
    // A filesystem without attributes: it is backed up, which does no harm.
    if isNew { try? top.setValue(true, for: .isExcludedFromBackup) }
}

/// Reads the identifier of the installation; nil where there is none.
private func readInstallation(in directory: FilePath) throws(FileError) -> String? {
    let bytes = try contentsOfStateFile(directory.appending("installation"), limit: 64) ?? []
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.count == 16 && text.isHexadecimal ? text : nil
}

/// Makes an identifier of the installation, or returns that which another process made meanwhile.
///
/// - Parameter identifier: to be stored in place of the one that is there; nil to store a new one where
///   there is none.
private func makeInstallation(
    in directory: FilePath, replacing identifier: String? = nil
) throws(FileError) -> String {
    let path = directory.appending("installation")
    try makeBackupDirectory(directory)
    guard let opened = try openStateFile(path, makingIt: true) else {
        throw FileError(.noSuchFileOrDirectory, of: path)
    }
    // Two processes that make one at once agree on it: the lock is released with the descriptor.
    let file = OwnedDescriptor(opened)
    do throws(Errno) {
        _ = try waitForLock(on: file.descriptor)
        if identifier == nil {
            let bytes = try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: 64)
            let known = String(decoding: bytes, as: UTF8.self)
            if known.utf8.count == 16, known.isHexadecimal { return known }
        }
        let chosen = identifier ?? randomIdentifier()
        try setSize(0, of: file.descriptor)
        try Array(chosen.utf8).withUnsafeBufferPointer { bytes throws(Errno) in
            try writeFile(file.descriptor, UnsafeRawBufferPointer(bytes))
        }
        try synchronize(file.descriptor)
        return chosen
    } catch {
        throw FileError(error, of: path)
    }
}

/// Returns 16 hexadecimal digits.
func randomIdentifier() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
