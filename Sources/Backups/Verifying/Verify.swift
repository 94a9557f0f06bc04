import SystemCalls
import SystemPackage

package struct VerifyResult: Sendable {
    /// The problems found, in restic's words, one line each; empty when there are none.
    package var problems: [String] = []
    /// The items of snapshots that the repository lacks data of, as far as its index shows.
    package var lost: [LostFile] = []
    /// The steps to repair the damage, in order; empty when nothing is wrong, or nothing can be done.
    package var repair: [RepairStep] = []
    /// The sets of SOURCEs to back up again, so that lost data is stored again.
    package var sourceSets: [[FilePath]] = []
    /// The number of entries read from snapshots; nil when the repository is damaged.
    package var items: Int?
    /// Whether it is known of all these snapshots how many files were stored, so that it was compared.
    package var isCompared = false

    package var isHealthy: Bool { problems.isEmpty && lost.isEmpty }
}

package struct RepairStep: Sendable, Hashable {
    package let purpose: String
    package let command: [[UInt8]]

    package init(purpose: String, command: [[UInt8]]) {
        self.purpose = purpose
        self.command = command
    }
}

extension Restic {
    /// Checks the repository, and that all entries of snapshots, and their records, can be read, and are as
    /// many as were stored.
    ///
    /// restic's check alone does not see a changed byte, unless it reads all data. It does not see that
    /// snapshots are gone, of which this sees the one made last of each set of SOURCEs.
    ///
    /// - Parameters:
    ///   - choice: the snapshot to read; nil for the newest of each set of SOURCEs of this machine.
    ///   - readsData: whether every stored byte is read and compared with its hash.
    /// - Throws: ``BackupError`` when nothing could be checked. Damage is in the result.
    package func verify(
        _ choice: SnapshotChoice?, readsData: Bool
    ) async throws(BackupError) -> VerifyResult {
        var result = try await check(readsData: readsData)
        let list = try await list()
        let own = ownSnapshots(among: list)
        var snapshots = own.sets.compactMap(\.snapshots.last)
        if let choice {
            snapshots = [try snapshot(choice, among: list)]
        } else if snapshots.isEmpty, own.unreadable.isEmpty {
            result.problems.append(
                "there is no snapshot that was made on this machine (make a backup)")
        }
        for set in own.sets {
            guard let note = try await lostLast(of: set.name.configuration, among: list)
            else { continue }
            result.problems.append(
                "\(lostLastWords) (make a backup, or, where none is to be made of the same any more, remove "
                    + "\(NameEscaping.text(note.bytes)))")
        }
        // In a damaged repository, restic may search for missing data for a quarter of an hour.
        if result.isHealthy {
            (result.items, result.isCompared) = (0, true)
            for snapshot in snapshots { try await read(snapshot, &result) }
        }
        if !result.isHealthy { result.sourceSets = own.sets.map(\.sources) }
        return result
    }

    private func read(
        _ snapshot: Snapshot, _ result: inout VerifyResult
    ) async throws(BackupError) {
        do throws(BackupError) {
            let (items, progress) = (snapshot.items, StepCounter("items listed", progress))
            let found = try await readEntries(
                of: snapshot.identifier, usesCache: false,
                into: (all: items.unlistedCount, files: 0)
            ) { found, entry in
                progress.add(files: 1)
                guard items.contains(entry.path) else { return }
                found.all += 1
                if entry.kind == .regularFile { found.files += 1 }
            }
            result.items = (result.items ?? 0) + found.all
            if snapshot.set != nil { _ = try await record(of: snapshot) }
            guard let stored = verdict(on: snapshot)?.verdict?.files else {
                return result.isCompared = false
            }
            if found.files != stored {
                result.problems.append(
                    "snapshot \(snapshot.shortIdentifier) has \(counted(found.files, "file")), and "
                        + "\(stored) were stored (make a backup again)")
            }
        } catch  where error.code != .interrupted {
            result.problems.append(
                "snapshot \(snapshot.shortIdentifier) cannot be read: \(error.message)")
        }
    }

    private func check(readsData: Bool) async throws(BackupError) -> VerifyResult {
        try await requireAnswer()
        let command = ResticCommand("check", readsData ? words("--read-data") : [])
        let (output, end) = try await attempt(
            command, reading: Lines(TextLines(report: progress)))
        let lines = output.consumer.lines
        if end.code == 0 {
            guard lines.contains(where: { $0.contains("no errors were found") })
            else {
                throw BackupError(
                    .unexpectedAnswer, "restic check did not say what it found",
                    advice: "run the command again")
            }
            return VerifyResult()
        }
        // The failure is damage that was found, unless restic failed before it checked.
        guard
            end.errors.line(containing: "repository contains errors") != nil
                || end.errors.line(containing: "LoadIndex returned errors") != nil
        else { throw failure(end) }
        var result = VerifyResult()
        // restic advises commands that forget snapshots that could still be read.
        result.problems = end.errors.lines.filter {
            !$0.hasPrefix("Fatal: ") && !$0.hasPrefix("restic ")
        }
        let damage = RepositoryDamage(lines + result.problems)
        result.repair = steps(damage, packs: try await packs(named: damage.packs))
        // Without an index nothing shows what is lost.
        guard !damage.hasDamagedIndex else { return result }
        do throws(BackupError) {
            result.lost = try await lostFiles()
        } catch  where error.code != .interrupted {
            result.problems.append("which files this concerns is not known: \(error.message)")
        }
        return result
    }

    /// Returns restic's commands that repair the damage, in the order that works. What is still on the
    /// disk is then stored again by the next backup.
    ///
    /// - Parameter packs: the full names of the damaged packs, which restic takes.
    func steps(_ damage: RepositoryDamage, packs: [String]) -> [RepairStep] {
        var steps: [RepairStep] = []
        func add(_ purpose: String, _ command: [[UInt8]]) {
            // Any other location may contain a password, and comes from the environment.
            let location = repository.directory.map { words("--repo") + [$0.bytes] } ?? []
            let password = passwordFile.map { [option("--password-file", $0)] } ?? []
            steps.append(
                RepairStep(
                    purpose: purpose + (location.isEmpty ? " (needs RESTIC_REPOSITORY)" : ""),
                    command: words("restic") + location + password + words("repair") + command
                ))
        }
        if damage.hasDamagedIndex || damage.hasIncompletePack {
            add("make the index anew from the packs that are there", words("index"))
        }
        if !packs.isEmpty {
            add(
                "store anew what can be read of the damaged packs, and keep copies of them here",
                words("packs") + packs.map { Array($0.utf8) })
        }
        return steps
    }

    /// Returns the full names of packs that are there, by their first digits. One that is missing
    /// cannot be repaired from itself.
    private func packs(named names: Set<String>) async throws(BackupError) -> [String] {
        guard !names.isEmpty else { return [] }
        let command = ResticCommand("list", words("--no-lock"), on: words("packs"))
        let list = try await run(command, reading: Lines(TextLines()))
        return list.consumer.lines.filter { pack in
            pack.isResticIdentifier && names.contains { pack.hasPrefix($0) }
        }
    }
}

struct RepositoryDamage {
    /// The packs that it named, or their first digits.
    private(set) var packs: Set<String> = []
    let hasDamagedIndex: Bool
    /// Whether a pack is missing, or has a wrong size.
    let hasIncompletePack: Bool

    /// Parses the output of `restic check`, such as `pack ID contains 2 errors: …`, `error decrypting
    /// blob ID from ID` and `Pack ID does not match, want ID, got ID`.
    ///
    /// A line may also contain the name of a file, which any user may have chosen: it is in
    /// quotation marks, before the names to find.
    init(_ lines: [String]) {
        for line in lines {
            let end = line[(line.lastIndex(of: "\"") ?? line.startIndex)...]
            let names = end.matches(
                of: /(?:[Pp]ack|from|want)[^0-9A-Za-z]+([0-9a-f]{8,64})(?![0-9A-Za-z])/)
            packs.formUnion(names.map { String($0.1) })
        }
        hasDamagedIndex = lines.contains { $0.contains("error loading index ") }
        hasIncompletePack = lines.contains {
            $0.hasPrefix("pack ")
                && ($0.contains(": does not exist") || $0.contains(": unexpected file size"))
        }
    }
}

package struct LostFile: Sendable, Hashable {
    package let path: [UInt8]
    /// The first digits of the snapshot's identifier.
    package let snapshot: String
}

extension Restic {
    /// Returns what the repository lacks data of, as far as its index shows: by
    /// `restic repair snapshots --dry-run`.
    ///
    /// - Parameter snapshot: only of this snapshot; nil for all.
    func lostFiles(in snapshot: Snapshot? = nil) async throws(BackupError) -> [LostFile] {
        let command = ResticCommand(
            "repair", words("snapshots", "--dry-run", "--no-lock", "--no-cache"),
            on: snapshot.map { words($0.identifier) } ?? [])
        return try await run(command, reading: Lines(LostFileLines())).consumer.files
    }
}

/// Reads the lines `  file "/home/a": removed missing content` and `  dir …` after
/// `snapshot 22e2d451 of …`. A quoted name has escapes for control characters and for bytes that are not
/// UTF-8, and so no newline.
struct LostFileLines: LineConsumer {
    private(set) var files: [LostFile] = []
    private var snapshot = ""

    mutating func receive(line: ArraySlice<UInt8>) {
        if line.starts(with: "snapshot ".utf8) {
            let digits = line.dropFirst("snapshot ".utf8.count).prefix { $0 != UInt8(ascii: " ") }
            snapshot = String(decoding: digits, as: UTF8.self)
            return
        }
        for start in ["  file \"", "  dir \""] where line.starts(with: start.utf8) {
            guard let path = Self.unquoted(line.dropFirst(start.utf8.count)) else { continue }
            files.append(LostFile(path: path, snapshot: snapshot))
        }
    }

    /// Returns the text up to the closing quotation mark, without Go's escapes (`strconv.Quote`); nil if
    /// it is not complete.
    static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let letters = Array("abfnrtv\\\"'".utf8)
        let codes: [UInt8] = [7, 8, 12, 10, 13, 9, 11, 0x5C, 0x22, 0x27]
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return result }
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            guard let letter = rest.popFirst() else { return nil }
            if let index = letters.firstIndex(of: letter) {
                result.append(codes[index])
                continue
            }
            // A byte, or a character.
            guard let index = Array("xuU".utf8).firstIndex(of: letter),
                case let digits = rest.prefix([2, 4, 8][index]),
                let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            rest = rest.dropFirst(digits.count)
            if index == 0 {
                result.append(UInt8(truncatingIfNeeded: code))
            } else {
                guard let scalar = Unicode.Scalar(code) else { return nil }
                result += Array(String(scalar).utf8)
            }
        }
        return nil
    }
}
