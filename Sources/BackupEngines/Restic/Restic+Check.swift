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
        let (output, end) = try await attempt(command, reading: WholeOutput())
        if end.code == 0 {
            guard String(decoding: output.bytes, as: UTF8.self).contains("no errors were found")
            else {
                throw BackupError(
                    .unexpectedAnswer, "restic check did not say what it found",
                    advice: "run the command again")
            }
            return RepositoryCheck()
        }
        // The failure is damage that was found, unless restic failed before it checked.
        let lines = output.bytes.split(separator: UInt8(ascii: "\n"))
            .map { String(decoding: $0, as: UTF8.self) }
        let errors = FailureText(end.errors.lines)
        guard
            errors.line(containing: "repository contains errors") != nil
                || errors.line(containing: "LoadIndex returned errors") != nil
        else { throw failure(end) }
        var check = RepositoryCheck()
        check.problems = end.errors.lines.map { String(decoding: $0, as: UTF8.self) }
            // Newer versions advise commands that forget snapshots that could still be read.
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
