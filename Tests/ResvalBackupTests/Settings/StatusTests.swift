import Backups
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import resval_backup

@Suite("Lock and status of the daily backup", .cleansUp)
struct StatusTests {
    private let time = FileTime(seconds: 1_800_000_000, nanoseconds: 5)

    @Test("a status is read back as it was written, and unknown fields are ignored")
    func roundTrip() throws {
        var status = RunStatus(process: 4711, start: time, after: nil)
        try #expect(RunStatus(status.line(isStale: nil)) == status)
        status.result = .incomplete
        status.step = .forget
        status.exitCode = 3
        status.end = time
        status.snapshot = SnapshotSummary(
            identifier: "1a2b", items: 1, bytes: 2, addedBytes: 3, excludedItems: 4)
        var held = HeldPart()
        (held.path, held.kind, held.since) = (Array("/a\u{FF}".utf8) + [0xFF], "other", time)
        status.snapshot?.holds = [held, HeldPart()]
        status.lastCleanRun = time
        status.lastVerify = time
        status.lastPrune = time
        try #expect(RunStatus(status.line(isStale: nil)) == status)
        let later =
            #"{"later":[{"a":1}],"#
            + String(decoding: status.line(isStale: nil).dropFirst(), as: UTF8.self)
        try #expect(RunStatus(Array(later.utf8)) == status)
        let next = RunStatus(process: 1, start: time, after: status)
        #expect(next.lastVerify == time && next.snapshot == nil && next.result == .running)
    }

    @Test("a backup is stale from an age on, and where its age cannot be told")
    func staleness() {
        func isStale(_ result: RunResult, _ seconds: Int64, after age: Int64? = 100) -> Bool {
            var status = RunStatus(process: 1, start: time, after: nil)
            status.result = result
            status.end = result == .running ? nil : time
            status.lastCleanRun = time
            let now = FileTime(seconds: time.seconds + seconds, nanoseconds: 0)
            return status.isStale(after: age, now: now)
        }
        for result in [RunResult.ok, .coversLess, .incomplete, .running] {
            #expect(!isStale(result, 99))
            #expect(isStale(result, 100))
            #expect(!isStale(result, -1))
            #expect(isStale(result, -86400))
            #expect(!isStale(result, 100, after: nil))
        }
        // These are failures whatever their age.
        #expect(!isStale(.failed, 100))
    }

    @Test("a status file that is none is an error, and none at all is nil")
    func files() throws {
        let root = try temporaryDirectory()
        try #expect(RunStatus.read(in: root) == nil)
        let status = RunStatus(process: 1, start: time, after: nil)
        try status.write(in: root)
        try status.write(in: root)
        try #expect(RunStatus.read(in: root) == status)
        try Tree { File("other", "{}") }.create(in: root)
        try tool("mv", root.appending("other"), root.appending("status.json"))
        #expect(throws: FileError.self) { try RunStatus.read(in: root) }
    }

    @Test("one process has the lock, until it lets go or ends")
    func lock() throws {
        let root = try temporaryDirectory()
        #expect(try !RunLock.isHeld(in: root))
        do {
            let lock = try #require(try RunLock(in: root))
            try #expect(RunLock.isHeld(in: root))
            try #expect(RunLock(in: root) == nil)
            withExtendedLifetime(lock) {}
        }
        try #expect(!RunLock.isHeld(in: root))
    }
}
