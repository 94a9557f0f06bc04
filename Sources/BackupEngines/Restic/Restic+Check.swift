extension Restic {
    package func check(readsData: Bool) async throws(BackupError) -> RepositoryCheck {
        try checkExistence()
        let command = ResticCommand("check", readsData ? words("--read-data") : [])
        let (output, end) = try await attempt(command, reading: WholeOutput())
        if end.code == 0 { return RepositoryCheck() }
        // Damage that was found, unless restic did not come to looking for it.
        let lines = output.bytes.split(separator: UInt8(ascii: "\n"))
            .map { String(decoding: $0, as: UTF8.self) }
        guard FailureText(end.errors.lines).line(containing: "repository contains errors") != nil
        else { throw failure(end) }
        var check = RepositoryCheck()
        check.problems = end.errors.lines.map { String(decoding: $0, as: UTF8.self) }
            .filter { !$0.hasPrefix("Fatal: ") }
        check.repair = DamagedPacks(lines + check.problems).repair(self)
        return check
    }
}
