import SystemCalls
import SystemPackage

extension Restic {
    package func check(readsData: Bool) async throws(BackupError) -> RepositoryCheck {
        try checkExistence()
        return try await runCheck(readsData ? words("--read-data") : [])
    }

    /// Runs `restic check` with options.
    func runCheck(_ options: [[UInt8]]) async throws(BackupError) -> RepositoryCheck {
        let readsData = options.contains(Array("--read-data".utf8))
        let command = ResticCommand("check", options)
        let (output, end) = try await attempt(
            command, reading: Lines(ProgressLines(AllLines(), report: progress)))
        let lines = output.consumer.consumer.lines
        if end.code == 0 {
            guard lines.contains(where: { $0.contains("no errors were found") })
            else {
                throw BackupError(
                    .unexpectedAnswer, "restic check did not say what it found",
                    advice: "run the command again")
            }
            return RepositoryCheck()
        }
        // The failure is damage that was found, unless restic failed before it checked.
        let errors = FailureText(end.errors.lines)
        guard
            errors.line(containing: "repository contains errors") != nil
                || errors.line(containing: "LoadIndex returned errors") != nil
        else { throw failure(end) }
        var check = RepositoryCheck()
        check.problems = end.errors.lines.map { String(decoding: $0, as: UTF8.self) }
            // restic advises commands that forget snapshots that could still be read.
            .filter { !$0.hasPrefix("Fatal: ") && !$0.hasPrefix("restic ") }
        let damage = DamagedPacks(lines + check.problems)
        check.damagedFiles = damage.names
        check.repair = damage.steps(self, readsData: readsData)
        check.isRepairable = check.repair.contains(where: \.isOwn)
        check.damagedSnapshots = Set(check.problems.compactMap(Self.damagedSnapshot)).sorted()
        check.repair += RepairStep.settingAside(check.damagedSnapshots)
        // restic retries reads of a missing or truncated pack for a quarter of an hour.
        guard !damage.hasDamagedIndex, !damage.hasIncompletePack else { return check }
        do throws(BackupError) {
            check.lost = try await lostItems(damage)
        } catch  where error.code != .interrupted {
            check.problems.append("which files this concerns is not known: \(error.message)")
        }
        return check
    }

    /// Reads `load <snapshot/35ac95b489>: …`; nil for a complaint about anything else.
    private static func damagedSnapshot(in problem: String) -> String? {
        guard let rest = FailureText.rest(of: problem, after: "<snapshot/"),
            let end = rest.firstIndex(of: ">")
        else { return nil }
        let digits = String(rest[..<end])
        return (8...64).contains(digits.count) && digits.isHexadecimal ? digits : nil
    }
}

/// Collects lines, up to a limit.
private struct AllLines: LineConsumer {
    private(set) var lines: [String] = []
    private var size = 0
    private static let limit = 64 << 20

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        size += line.count + 1
        guard size <= Self.limit else {
            throw BackupError(
                .unexpectedAnswer, "the answer is longer than \(Self.limit >> 20) MiB")
        }
        if !line.isEmpty { lines.append(String(decoding: line, as: UTF8.self)) }
    }
}

/// The parts of a repository that a check complained of.
struct DamagedPacks {
    /// The names of the packs, or their first digits, each once, sorted.
    let names: [String]
    /// The identifiers of the blobs that no pack contains, each once, sorted.
    let missingBlobs: [String]
    /// Whether an index file is damaged too.
    let hasDamagedIndex: Bool
    /// Whether a pack is missing, or has a wrong size.
    let hasIncompletePack: Bool

    /// Finds names in the output of `restic check`, where they follow the words pack and blob.
    ///
    /// A line may also contain the name of a file, which any user may have chosen: it is in
    /// quotation marks, before the names to find.
    init(_ lines: [String]) {
        var names: Set<String> = []
        var blobs: Set<String> = []
        for line in lines {
            let line = line[(line.lastIndex(of: "\"") ?? line.startIndex)...]
            let words = line.split { !$0.isLetter && !$0.isNumber }
            for (index, word) in words.enumerated().dropFirst()
            where (8...64).contains(word.utf8.count) && word.isHexadecimal {
                let previous = words[index - 1].lowercased()
                if previous == "pack"
                    || line.hasPrefix("Pack ID does not match") && previous == "want"
                {
                    names.insert(String(word))
                }
                if previous == "blob" || previous == "id", String(word).isResticIdentifier {
                    blobs.insert(String(word))
                }
            }
        }
        self.names = names.sorted()
        missingBlobs = blobs.sorted()
        hasDamagedIndex = lines.contains { $0.contains("error loading index ") }
        hasIncompletePack = lines.contains {
            $0.hasPrefix("pack ")
                && ($0.contains(": does not exist") || $0.contains(": unexpected file size"))
        }
    }

    /// Returns the steps to repair the damage: a command of this program when the repository is a
    /// directory, otherwise one of restic.
    ///
    /// - Parameter readsData: whether the packs were found by reading all data.
    func steps(_ restic: Restic, readsData: Bool) -> [RepairStep] {
        if hasDamagedIndex || restic.repository.directory != nil && !names.isEmpty {
            return [
                RepairStep(
                    purpose:
                        "store anew what can be read of the damaged files, and move them aside",
                    command: words("verify", "--repair") + (readsData ? words("--read-data") : []),
                    isOwn: true)
            ]
        }
        guard !names.isEmpty else { return [] }
        return [
            RepairStep(
                purpose:
                    "store anew what can be read of the damaged packs (needs RESTIC_REPOSITORY)",
                command: [restic.program.path.bytes] + words("repair", "packs")
                    + restic.passwordOption + names.map { Array($0.utf8) })
        ]
    }
}

extension Restic {
    /// Returns the file of a pack in the repository; nil when there is none, or when the repository
    /// is not a directory.
    ///
    /// - Parameter name: the pack's name or its first digits, at least 2.
    func packFile(_ name: String) -> FilePath? {
        repository.directory.flatMap { file(of: name, below: $0) }
    }

    /// Returns the copies of a pack that restic keeps on this machine.
    func cachedPackFiles(_ name: String) -> [FilePath] {
        guard let cache = environment.cacheDirectory else { return [] }
        var found: [FilePath] = []
        // Without a cache there are no copies.
        try? forEachName(in: cache) { repository in
            let directory = cache.pushing(FilePath(bytes: repository))
            if let file = file(of: name, below: directory) { found.append(file) }
            return true
        }
        return found
    }

    private func file(of name: String, below directory: FilePath) -> FilePath? {
        let packs = directory.appending("data").appending(String(name.prefix(2)))
        var found: [UInt8]?
        do throws(Errno) {
            try forEachName(in: packs) { entry in
                if entry.starts(with: name.utf8),
                    String(decoding: entry, as: UTF8.self).isResticIdentifier
                {
                    found = Array(entry)
                }
                return found == nil
            }
        } catch {
            return nil
        }
        return found.map { packs.pushing(FilePath(bytes: $0)) }
    }
}
