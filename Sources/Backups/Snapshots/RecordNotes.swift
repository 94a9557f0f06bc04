import ResourceValues
import SystemCalls
import SystemPackage

/// What this installation knows of the records that it made: `backup/records/REPOSITORY/HASH` in the
/// state directory, a file for each record. It is empty from before restic is started until the
/// snapshot is judged, and has the verdict then.
///
/// So a snapshot that another machine made with a copy of this state is told from one made here, and
/// one whose process was killed from one that lacks nothing.
///
/// The texts of the newest records are beside them as `HASH.record`, so that the next backup need not start
/// restic for them. Where one is gone, or is another, restic has it. `CONFIGURATION.names` has the names of
/// the items: ``ItemNames``.
struct RecordNotes: Sendable {
    private let directory: FilePath
    /// The directory of the repository in it.
    private let place: FilePath
    private static let longestVerdict = 64 << 20
    private static let textCount = 4
    private static let longestText = 16 << 20
    /// The free space, in bytes, that a text leaves in the home.
    private static let roomLeft: Int64 = 64 << 20

    /// - Parameters:
    ///   - repository: the fingerprint of the repository's location.
    init(in state: FilePath, of repository: String) {
        directory = state.appending("backup").appending("records")
        place = directory.appending(repository)
    }

    /// Notes a record, or what was found out about its snapshot.
    func note(_ hash: String, _ verdict: [UInt8] = []) throws(FileError) {
        let file = place.appending(hash)
        try makeBackupDirectory(place)
        do throws(FileError) {
            try file.writePrivateFile(verdict)
        } catch  where error.isOfStorage {
            removeTexts(except: 0)
            try file.writePrivateFile(verdict)
        }
    }

    /// Keeps the text of a record that is noted, unless there is little room.
    func keep(_ text: [UInt8]) {
        write(text, to: textFile(ContentHash(of: text).hexadecimal))
        removeTexts(except: Self.textCount)
    }

    /// Keeps the names of the items that a snapshot of a configuration has, and those that earlier ones
    /// had, unless there is little room.
    func keep(_ named: NamedItems, of configuration: String) {
        let file = place.appending("\(configuration).names")
        var names = named.names
        // Where they cannot be read, those of this snapshot take their place.
        let earlier = try? contentsOfStateFile(file, limit: ItemNames.longestText)
        names.add(earlier ?? []) { named.contains(printed: $0) }
        write(names.text, to: file)
    }

    private func write(_ text: [UInt8], to file: FilePath) {
        let status = try? filesystemStatus(of: place)
        guard let room = status?.availableBytes, text.count <= Self.longestText,
            room >= Self.roomLeft + Int64(text.count)
        else { return }
        try? file.writePrivateFile(text)
    }

    /// The files with the names of items in a state directory, of all repositories.
    static func namesFiles(in state: FilePath) -> [FilePath] {
        entries(of: state.appending("backup").appending("records")).flatMap(entries)
            .filter { $0.extension == "names" }
    }

    private static func entries(of directory: FilePath) -> [FilePath] {
        readableNames(in: directory).map { directory.pushing(FilePath(bytes: $0)) }
    }

    /// Returns the text of a record; nil where it is not kept, or not the one with this hash.
    func text(of hash: String) -> [UInt8]? {
        let text = try? contentsOfStateFile(textFile(hash), limit: Self.longestText)
        guard let text, ContentHash(of: text).hexadecimal == hash else { return nil }
        return text
    }

    private func textFile(_ hash: String) -> FilePath {
        place.appending("\(hash).record")
    }

    private func removeTexts(except count: Int) {
        // What stays takes some space, and does no harm.
        let texts = Self.entries(of: place)
            .filter { $0.extension == "record" || count == 0 && $0.extension == "names" }
            .compactMap { path in
                (try? path.withoutFollowing.status()).map { (path, $0.contentModificationTime) }
            }
        for (path, _) in texts.sorted(by: { $0.1 > $1.1 }).dropFirst(count) {
            try? removeFile(path)
        }
    }

    /// Returns what was found out about a record's snapshot: nothing if it was not judged, nil if the
    /// record was not made here. It may have been made for the repository at another location.
    func contents(of hash: String) throws(FileError) -> [UInt8]? {
        // Where there is no such directory, nothing was noted.
        for place in [place] + Self.entries(of: directory) {
            let found = try contentsOfStateFile(
                place.appending(hash), limit: Self.longestVerdict)
            if let found { return found }
        }
        return nil
    }

    /// Removes what is known of snapshots that have long been gone. Another repository may have been at
    /// this location.
    ///
    /// - Parameter hashes: of the records of all snapshots in the repository.
    func remove(except hashes: Set<String>) {
        let now = FileTime.now.seconds
        // What stays takes some space, and does no harm.
        for file in Self.entries(of: place)
        where !hashes.contains(file.lastComponent?.string ?? "") {
            if let made = try? file.withoutFollowing.status().contentModificationTime.seconds,
                now.subtractingSaturating(made) > 400 * 86400
            {
                try? removeFile(file)
            }
        }
    }
}

extension Restic {
    var notes: RecordNotes? {
        stateDirectory.map { RecordNotes(in: $0, of: repository.fingerprint) }
    }

    /// Whether a snapshot was made by this installation.
    ///
    /// - Parameter answer: the answer when what is noted cannot be read.
    func isNoted(_ snapshot: Snapshot, inDoubt answer: Bool = false) -> Bool {
        guard let hash = snapshot.recordHash, let notes else { return false }
        do throws(FileError) {
            return try notes.contents(of: hash) != nil
        } catch {
            return answer
        }
    }

    /// Returns what is known of a snapshot that this installation made and judged, or whose SET was
    /// accepted; nil otherwise, and where another program has written it anew.
    func verdict(on snapshot: Snapshot) -> SnapshotRecord? {
        noted(on: snapshot).flatMap { $0.verdict?.isOn(snapshot) == true ? $0 : nil }
    }

    /// Returns the same, also where another program has written the snapshot anew: what it holds and is
    /// compared with stays so.
    private func noted(on snapshot: Snapshot) -> SnapshotRecord? {
        guard let hash = snapshot.recordHash, let notes,
            let text = (try? notes.contents(of: hash)) ?? nil, !text.isEmpty,
            // Where it cannot be read, it is as if it had been killed before it was judged.
            let noted = try? SnapshotRecord(text: text), noted.verdict != nil
        else { return nil }
        return noted
    }

    /// - Throws: ``BackupError``: `noRecord` when the snapshot has none, `damaged` when it is not valid, or
    ///   is not the one that the snapshot was made with.
    package func record(of snapshot: Snapshot) async throws(BackupError) -> SnapshotRecord {
        guard let path = snapshot.recordPath?.path else { throw .noRecord }
        let text = try await readContent(
            of: FilePath(bytes: path), in: snapshot.identifier,
            with: WholeOutput(limit: SnapshotRecord.longestText)
        ).bytes
        return try SnapshotRecord(text: text, of: snapshot)
    }

    /// Returns the record of a snapshot, from the state directory where that keeps its text.
    func keptRecord(of snapshot: Snapshot) async throws(BackupError) -> SnapshotRecord {
        if let text = snapshot.recordHash.flatMap({ notes?.text(of: $0) }) {
            return try SnapshotRecord(text: text)
        }
        return try await record(of: snapshot)
    }

    /// Returns the items that a snapshot excluded; none for one without a record.
    func exclusions(of snapshot: Snapshot) async throws(BackupError) -> [RecordedExclusion] {
        do throws(BackupError) {
            return try await keptRecord(of: snapshot).exclusions
        } catch  where error.code == .noRecord {
            return []
        }
    }

    /// Returns what is known of a snapshot of a SET, without the excluded items themselves, whose paths are
    /// enough to compare. The state directory may keep its record's text.
    func recorded(_ snapshot: Snapshot) async throws(BackupError) -> SnapshotRecord {
        var record = try await keptRecord(of: snapshot)
        // Any client of the repository may have changed its tags.
        guard let set = record.set, set == snapshot.set?.text, record.number == snapshot.number
        else { throw .damagedRecord }
        record.date = snapshot.time.seconds
        let noted = noted(on: snapshot)
        if let noted { record.take(noted) }
        record.isWhole =
            noted?.verdict.map { $0.isJudged && $0.isOn(snapshot) } ?? snapshot.isJudged
        record.exclusions = []
        return record
    }

    /// Returns the identifier of the SET of a configuration; nil where the state directory keeps none.
    func keptIdentifier(of configuration: String) throws(FileError) -> String? {
        guard let file = identifierFile(of: configuration) else { return nil }
        let bytes = try contentsOfStateFile(file, limit: 64) ?? []
        let text = String(decoding: bytes, as: UTF8.self)
        return isIdentifier(text) ? text : nil
    }

    /// Returns the identifier of the SET of a configuration, after making one if it is missing.
    @discardableResult
    package func makeIdentifier(of configuration: String) throws(FileError) -> String {
        if let kept = try keptIdentifier(of: configuration) { return kept }
        let made = randomIdentifier()
        try keep(made, of: configuration)
        return made
    }

    func keep(_ identifier: String, of configuration: String) throws(FileError) {
        guard let file = identifierFile(of: configuration) else {
            throw FileError(
                code: .other, message: "no directory for state is known",
                advice: "set HOME or XDG_STATE_HOME")
        }
        try makeBackupDirectory(file.removingLastComponent())
        try file.writePrivateFile(Array(identifier.utf8))
    }

    private func identifierFile(of configuration: String) -> FilePath? {
        stateDirectory?.appending("backup").appending(configuration).appending("set")
    }

    /// The file with the hash of the record of the snapshot that this installation made last of a
    /// configuration in this repository. A copy of it on another disk has its own.
    private func lastFile(of configuration: String) async throws(BackupError) -> FilePath? {
        let found = try await present(known)
        let name = "last-\(shortName(for: Array("\(found.identifier) \(found.filesystem)".utf8)))"
        return stateDirectory?.appending("backup").appending(configuration).appending(name)
    }

    func noteLast(_ hash: String, of configuration: String) async throws {
        try await lastFile(of: configuration)?.writePrivateFile(Array(hash.utf8))
    }

    /// Returns the note of the snapshot that was made last of a configuration, which no forget of this
    /// program removes, where the repository has lost it; nil where it is there, or may be one that cannot
    /// be read.
    func lostLast(
        of configuration: String, among list: SnapshotList
    ) async throws(BackupError) -> FilePath? {
        guard list.unreadable.isEmpty, let file = try await lastFile(of: configuration)
        else { return nil }
        do throws(FileError) {
            guard let noted = try contentsOfStateFile(file, limit: 64) else { return nil }
            let hash = String(decoding: noted, as: UTF8.self)
            return list.snapshots.contains { $0.recordHash == hash } ? nil : file
        } catch {
            warn("\(error.description), so it is not known whether the snapshot made last is there")
            return nil
        }
    }

    package func isOwn(_ set: SnapshotSet) -> Bool {
        (try? keptIdentifier(of: set.configuration)) == set.identifier
    }
}

let lostLastWords =
    "the snapshot made last is gone from the repository: another program removed it, or the storage lost it"

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
