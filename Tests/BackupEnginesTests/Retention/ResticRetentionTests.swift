import ResourceValues
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Retention as restic decides it")
struct ResticRetentionTests {
    private static let times = [
        "2024-01-01 00:00:00", "2024-02-29 12:00:00", "2024-12-30 10:00:00", "2024-12-31 23:59:59",
        "2025-01-01 00:00:00", "2025-03-30 02:30:00", "2025-03-31 12:00:00", "2025-10-26 01:30:00",
        "2025-12-29 09:00:00", "2026-01-04 22:00:00", "2026-01-05 01:00:00", "2026-02-28 08:00:00",
        "2026-03-01 08:00:00", "2026-03-01 08:30:00", "2026-03-01 09:10:00", "2026-03-02 23:00:00",
        "2026-03-03 00:10:00",
    ]

    private static let rules:
        [(arguments: [String], change: @Sendable (inout RetentionRules) -> Void)] = [
            (["--keep-last", "3"], { $0.counts[.last] = 3 }),
            (["--keep-hourly", "4"], { $0.counts[.hourly] = 4 }),
            (["--keep-daily", "5"], { $0.counts[.daily] = 5 }),
            (["--keep-weekly", "6"], { $0.counts[.weekly] = 6 }),
            (["--keep-monthly", "5"], { $0.counts[.monthly] = 5 }),
            (["--keep-yearly", "2"], { $0.counts[.yearly] = 2 }),
            (["--keep-within", "1m2d"], { $0.spans[.last] = CalendarSpan("1m2d") }),
            (
                ["--keep-within-daily", "3m", "--keep-within-yearly", "3y"],
                {
                    $0.spans[.daily] = CalendarSpan("3m")
                    $0.spans[.yearly] = CalendarSpan("3y")
                }
            ),
            (["--keep-tag", "odd"], { $0.tags = [["odd"]] }),
            (
                ["--keep-daily", "2", "--keep-weekly", "3", "--keep-monthly", "20"],
                {
                    $0.counts[.daily] = 2
                    $0.counts[.weekly] = 3
                    $0.counts[.monthly] = 20
                }
            ),
        ]

    @Test("each rule keeps what restic forget keeps of seventeen snapshots")
    func decisions() throws {
        try require(.tool("restic"), .tool("jq"))
        try withTemporaryDirectory(containing: Tree { File("file", "text") }) { base in
            try tool("cp", "-r", try emptyRepository(), base.appending("repository"))
            for (number, time) in Self.times.enumerated() {
                let tag = number % 2 == 1 ? "odd" : "even"
                try restic(base, "backup --time '\(time)' --tag \(tag) file")
            }
            let list = try restic(base, "snapshots --json | jq -c '.[]'")
            let snapshots = try list.split(separator: "\n").map {
                try Snapshot(json: Array($0.utf8)[...])
            }
            #expect(snapshots.count == Self.times.count)
            for (arguments, change) in Self.rules {
                let options = arguments.joined(separator: " ")
                let answer = try restic(
                    base,
                    "forget --dry-run --json --group-by host \(options)"
                        + " | jq -r '.[0].keep[].id'")
                var rules = RetentionRules()
                change(&rules)
                let reasons = rules.reasons(for: snapshots, now: .current())
                let kept = Set(reasons.filter { !$0.value.isEmpty }.keys)
                var expected = Set(answer.split(separator: "\n").map(String.init))
                // restic's rule by count that keeps fewer also keeps the oldest.
                if let oldest = snapshots.first?.identifier, !kept.contains(oldest) {
                    expected.remove(oldest)
                }
                #expect(kept == expected, "\(options)")
                #expect(!kept.isEmpty)
            }
        }
    }

    /// Runs restic, at a place whose clock is half an hour off.
    @discardableResult
    private func restic(_ base: FilePath, _ line: String) throws -> String {
        var command = Command("/bin/sh", "-c", "restic -q -r repository \(line)")
        command.workingDirectory = base
        command.environment = [
            "RESTIC_PASSWORD": repositoryPassword, "RESTIC_CACHE_DIR": "\(base)/cache",
            "RESTIC_PASSWORD_FILE": nil, "RESTIC_PASSWORD_COMMAND": nil, "TZ": "Asia/Kolkata",
        ]
        return try command.runSuccessfully()
    }
}
