import ResourceValues
import SystemCalls
import SystemPackage

package struct SnapshotList: Sendable {
    /// The snapshots: by their times, but those of each SET in the order they were made.
    package var snapshots: [Snapshot]
    /// The snapshots that cannot be read, and so may be any. Sorted by identifier.
    package let unreadable: [UnreadableSnapshot]

    package init(_ snapshots: [Snapshot], unreadable: [UnreadableSnapshot] = []) {
        self.snapshots = snapshots.inOrder
        self.unreadable = Set(unreadable).sorted { $0.identifier < $1.identifier }
    }

    package struct OneSet: Sendable {
        package let name: SnapshotSet
        package let snapshots: [Snapshot]

        package var sources: [FilePath] { snapshots.last?.sources ?? [] }
    }

    /// The SETs, in the order of their tags.
    package var sets: [OneSet] {
        Dictionary(grouping: snapshots.filter { $0.set != nil }, by: \.set)
            .compactMap { set, snapshots in set.map { OneSet(name: $0, snapshots: snapshots) } }
            .sorted { $0.name.tag < $1.name.tag }
    }

    /// - Throws: ``BackupError``: `noSnapshot`, `ambiguousSources`.
    func sets(_ scope: ForgetScope) throws(BackupError) -> [OneSet] {
        let sets = sets
        switch scope {
        case .everySet: return sets
        case .onlySet(let preferred):
            let preferredSets = sets.filter { $0.name.configuration == preferred }
            if !preferredSets.isEmpty { return preferredSets }
            guard sets.count > 1 else { return sets }
            throw BackupError(
                .ambiguousSources,
                "this installation has made snapshots of \(sets.count) sets of SOURCEs",
                advice: "name the SOURCEs of one, or give --all for each set by itself")
        case .configuration(let configuration):
            let chosen = sets.filter { $0.name.configuration == configuration }
            guard chosen.isEmpty else { return chosen }
            throw BackupError(
                .noSnapshot, "there is no snapshot of these SOURCEs made by this installation",
                advice: "give them as they were backed up; list them: resval-backup snapshots")
        }
    }
}

package struct UnreadableSnapshot: Sendable, Hashable {
    /// The identifier, or its first digits.
    package let identifier: String
    package let problem: String

    /// What is wrong and how to proceed, with the identifier.
    package var sentence: String {
        "snapshot \(identifier.prefix(8)) cannot be read and is skipped: \(problem) "
            + "(check the repository: resval-backup verify)"
    }

    var error: BackupError {
        BackupError(
            .damaged, "snapshot \(identifier.prefix(8)) cannot be read: \(problem)",
            advice: "check the repository: resval-backup verify")
    }
}

extension Restic {
    /// Returns all snapshots. restic reports one whose file is damaged, and lists the
    /// others. Excludes what a killed `tag` did not remove: a snapshot of which there is a copy with
    /// other tags.
    package func list() async throws(BackupError) -> SnapshotList {
        var list = try await listAll()
        let copied = Set(
            list.snapshots.filter { $0.identifier != $0.originalIdentifier }.map(\.copied))
        list.snapshots.removeAll { copied.contains($0.itself) }
        for index in list.snapshots.indices {
            let snapshot = list.snapshots[index]
            guard !snapshot.isJudged || snapshot.isIncomplete else { continue }
            let noted = verdict(on: snapshot)
            // Without the verdict it is not known what an incomplete one lacks.
            list.snapshots[index].isJudged = noted?.verdict?.isJudged == true
            list.snapshots[index].lacks = noted?.lacks ?? []
            if noted?.verdict?.isComplete == false { list.snapshots[index].isIncomplete = true }
        }
        return list
    }

    /// Returns all snapshots, also those that ``list()`` excludes.
    func listAll() async throws(BackupError) -> SnapshotList {
        try await requireAnswer()
        let command = ResticCommand("snapshots", words("--json"))
        let (output, end) = try await attempt(
            command, reading: ElementReader(of: "snapshots", Snapshot.init(json:)))
        guard end.code == 0 else { throw failure(end) }
        try output.requireEnd()
        let unreadable = end.errors.lines.compactMap(UnreadableSnapshot.init(complaint:))
        for snapshot in unreadable { warn(snapshot.sentence) }
        let list = SnapshotList(output.elements, unreadable: unreadable)
        if let stateDirectory { repository.note(list.snapshots, in: stateDirectory) }
        return list
    }

    /// Throws as ``checkExistence()`` does, and `unreachable` when a server does not answer in time: restic
    /// itself would try again for a quarter of an hour.
    func requireAnswer() async throws(BackupError) {
        if repository.directory == nil {
            _ = try await repositoryIdentifier()
        } else {
            try checkExistence()
        }
    }

    /// Throws `noRepository` at once when the repository is a directory without a config file.
    func checkExistence() throws(BackupError) {
        guard let directory = repository.directory else { return }
        var isThere = false
        do throws(Errno) {
            isThere = try itemExists(directory.appending("config"))
        } catch .fileNameTooLong {
            // restic would try again for a quarter of an hour.
        } catch {
            // Left to restic.
            return
        }
        if !isThere { throw noRepository }
    }
}

extension UnreadableSnapshot {
    /// Parses the line `… failed to load snapshot ID: CAUSE`; nil for any other.
    init?(complaint line: String) {
        guard let rest = line.rest(after: "failed to load snapshot "),
            let colon = rest.firstIndex(of: ":")
        else { return nil }
        self.init(
            identifier: String(rest[..<colon]),
            problem: rest[rest.index(after: colon)...].drop { $0 == " " }.description)
    }
}

extension RepositoryLocation {
    private static let longestList = 1 << 20

    /// Returns the snapshots as they were listed last, the newest first, each with facts in words: for
    /// shells that complete words, which ask no repository.
    ///
    /// - Parameter state: the programs' directory for state.
    package func listedSnapshots(in state: FilePath) -> [(word: String, summary: String)] {
        let text = try? contentsOfStateFile(listFile(in: state), limit: Self.longestList)
        return String(decoding: text ?? [], as: UTF8.self).split(separator: "\n").compactMap {
            line in
            let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
            return parts.count == 2 && parts[0].isHexadecimal ? (parts[0], parts[1]) : nil
        }
    }

    /// Notes a list of snapshots, the oldest first.
    fileprivate func note(_ snapshots: [Snapshot], in state: FilePath) {
        let lines = snapshots.suffix(1000).reversed().map { snapshot in
            let names = [Array(snapshot.hostName.utf8)] + snapshot.sources.prefix(3).map(\.bytes)
            let facts = [snapshot.time.localMinute] + names.map { NameEscaping.text($0) }
            return "\(snapshot.shortIdentifier)\t\(facts.joined(separator: ", ").prefix(200))\n"
        }
        let (file, text) = (listFile(in: state), Array(lines.joined().utf8))
        // It helps at the keyboard only: no directory is made for it, and no failure is told.
        guard let known = try? itemExists(file.removingLastComponent()), known,
            (try? makeBackupDirectory(file.removingLastComponent())) != nil,
            (try? contentsOfStateFile(file, limit: Self.longestList)) != text
        else { return }
        try? file.writePrivateFile(text)
    }

    private func listFile(in state: FilePath) -> FilePath {
        state.appending("backup").appending("snapshots-\(fingerprint)")
    }
}

/// Parses JSON that restic prints element by element: a snapshot made from a list can be megabytes long.
struct ElementReader<Element: Sendable>: OutputConsumer {
    private let command: String
    private let parse: @Sendable (ArraySlice<UInt8>) throws(JSONError) -> Element
    private(set) var elements: [Element] = []
    private var json: JSONElements

    /// - Parameter level: in how many objects and arrays an element is.
    init(
        of command: String, level: Int = 1,
        _ parse: @escaping @Sendable (ArraySlice<UInt8>) throws(JSONError) -> Element
    ) {
        (self.command, self.parse, json) = (command, parse, JSONElements(level: level))
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        try parsing(command) { () throws(JSONError) in
            try json.append(bytes) { element throws(JSONError) in
                elements.append(try parse(element))
            }
        }
    }

    /// Does nothing: missing output may be due to a failure, which restic's exit code reports.
    func finish() {}

    func requireEnd() throws(BackupError) {
        guard json.isComplete else { throw .unexpectedAnswer(JSONError(offset: 0), to: command) }
    }
}

func parsing<Result>(
    _ command: String, _ body: () throws(JSONError) -> Result
) throws(BackupError) -> Result {
    do throws(JSONError) {
        return try body()
    } catch {
        throw .unexpectedAnswer(error, to: command)
    }
}

extension BackupError {
    fileprivate static func unexpectedAnswer(
        _ error: JSONError, to command: String
    ) -> BackupError {
        BackupError(
            .unexpectedAnswer,
            "restic \(command) printed something unexpected at byte \(error.offset)",
            advice: "tested with restic 0.18; to show yours: restic version")
    }
}

extension Restic {
    /// Returns the snapshots of this installation, and those of other programs on this machine. Where
    /// this installation made none, those that others made on a machine of this name count.
    package func ownSnapshots(among list: SnapshotList) -> SnapshotList {
        let sets = Set(list.snapshots.compactMap(\.set)).filter(isOwn)
        let host = hostName()
        let own = list.snapshots.filter {
            if !sets.isEmpty, let set = $0.set { return sets.contains(set) }
            return $0.hostName == host
        }
        return SnapshotList(own, unreadable: list.unreadable)
    }
}

extension [Snapshot] {
    fileprivate var inOrder: [Snapshot] {
        var sorted = self.sorted { ($0.time, $0.identifier) < ($1.time, $1.identifier) }
        let places = Dictionary(grouping: sorted.indices) { sorted[$0].set }
        for (set, indices) in places where set != nil {
            let members = indices.map { sorted[$0] }.sorted {
                ($0.number, $0.time, $0.identifier) < ($1.number, $1.time, $1.identifier)
            }
            for (index, snapshot) in zip(indices, members) { sorted[index] = snapshot }
        }
        return sorted
    }
}

package enum SnapshotChoice: Sendable, Hashable {
    /// The snapshot made last by this installation.
    case latest
    /// The snapshot whose identifier begins with these digits.
    case identifier(String)

    /// Parses `latest`, or 4 to 64 hexadecimal digits; nil for anything else.
    package init?(_ text: String) {
        if text == "latest" {
            self = .latest
        } else if (4...64).contains(text.count), text.isHexadecimal {
            self = .identifier(text.lowercased())
        } else {
            return nil
        }
    }
}

extension StringProtocol {
    var isHexadecimal: Bool { utf8.allSatisfy("0123456789abcdefABCDEF".utf8.contains) }

    /// Whether it is a complete identifier as restic gives them to snapshots, trees and locks: a
    /// SHA-256 in hexadecimal.
    var isResticIdentifier: Bool { utf8.count == 64 && isHexadecimal }
}

extension Restic {
    /// Returns the one of the repository's snapshots that a choice refers to.
    ///
    /// A snapshot is also found by its original identifier, which people may have written down.
    ///
    /// - Throws: ``BackupError`` with the code `noSnapshot` when none or several match, `damaged`
    ///   when the one that matches cannot be read.
    package func snapshot(
        _ choice: SnapshotChoice, among list: SnapshotList
    ) throws(BackupError) -> Snapshot {
        switch choice {
        case .latest:
            // The one made last of each SET, and of these the one dated last.
            let made = ownSnapshots(among: list).sets.compactMap(\.snapshots.last)
            let timely = made.filter { !$0.isFromFuture }
            // When all are dated in the future, the clock of this machine is wrong.
            let newest = (timely.isEmpty ? made : timely).max { $0.time < $1.time }
            if let newest { return newest }
            throw BackupError(
                .noSnapshot, "resval-backup made no snapshot on this machine",
                advice: "list all snapshots: resval-backup snapshots")
        case .identifier(let prefix):
            let all = list.snapshots
            var fitting = all.filter { $0.identifier.hasPrefix(prefix) }
            if fitting.isEmpty {
                fitting = all.filter { $0.originalIdentifier.hasPrefix(prefix) }
            }
            if fitting.count == 1, let only = fitting.first { return only }
            if fitting.isEmpty,
                let unreadable = list.unreadable.first(where: {
                    prefix.hasPrefix($0.identifier) || $0.identifier.hasPrefix(prefix)
                })
            {
                throw unreadable.error
            }
            throw BackupError(
                .noSnapshot,
                fitting.isEmpty
                    ? "there is no snapshot \(prefix)"
                    : "\(fitting.count) snapshots begin with \(prefix)",
                advice: "list the snapshots: resval-backup snapshots")
        }
    }
}
