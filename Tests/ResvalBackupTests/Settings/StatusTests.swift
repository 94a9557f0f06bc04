import CommandSupport
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups
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
        held.isPartial = true
        status.holds = [held, HeldPart()]
        status.failure = ReportedError(text: "is wrong")
        status.failure?.path = Array("/c".utf8) + [0xFF]
        status.failure?.advice = "mend it"
        status.shortfalls = [
            KnownShortfall(
                path: Array("/b\u{FF}".utf8) + [0xFF], reason: "locked", sentence: "is", since: time
            )
        ]
        status.forgetObstacle = "a snapshot is dated wrong"
        status.lastSnapshot = time
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
        #expect(next.shortfalls == status.shortfalls && next.holds == status.holds)
        #expect(next.failure == nil && next.forgetObstacle == nil && next.lastSnapshot == time)
    }

    @Test("a failed run tells why, and result and exit code of status say that less is covered")
    func results() {
        var fall = HeldPart()
        (fall.path, fall.kind) = (Array("/s".utf8), "other")
        let error = ReportedError(text: "is wrong")
        func status(_ code: Int32, holding holds: [HeldPart] = []) -> RunStatus {
            var status = RunStatus(process: 1, start: time, after: nil)
            status.snapshot = SnapshotSummary(identifier: "1a2b", isWhole: code == 0)
            status.holds = holds
            status.finish(code, after: error)
            return status
        }
        #expect(status(12).failure == error && status(12).result == .wrongPassword)
        #expect(status(3).failure == nil && status(130).failure == nil)
        #expect(status(0).result == .ok && status(0).result.statusCode == 0)
        let less = status(0, holding: [fall])
        #expect(less.result == .coversLess && less.result.statusCode == 3)
        #expect(less.exitCode == 0)
        fall.isUnstored = true
        #expect(status(0, holding: [fall]).result == .ok)
        for result in RunResult.allCases {
            #expect(result.text == result.text.lowercased())
        }
    }

    @Test("what was missing before and can last is no news, anything else is")
    func news() {
        func shortfall(_ path: String, _ cause: Shortfall.Cause) -> Shortfall {
            Shortfall(path: Array(path.utf8), cause: cause)
        }
        let (denied, bad) = (
            shortfall("/a", .unreadable(.permissionDenied)), shortfall("/b", .unreadable(.ioError))
        )
        var status: RunStatus?
        /// Returns whether a next run that found shortfalls is as the one before, and since when it knows them.
        func next(
            _ found: [Shortfall], of sources: [FilePath] = ["/"], ending code: Int32 = 3
        ) -> (isAsBefore: Bool, since: [Int64]) {
            let start = FileTime(seconds: (status?.start.seconds ?? 0) + 1, nanoseconds: 0)
            var new = RunStatus(process: 1, start: start, after: status)
            let isAsBefore = new.note(found, of: sources)
            new.finish(code)
            status = new
            return (isAsBefore, new.shortfalls.map(\.since.seconds))
        }
        #expect(next([denied]) == (false, [1]))
        #expect(next([denied]) == (true, [1]))
        #expect(next([denied, bad]) == (false, [1, 3]))
        // A device that fails is never settled.
        #expect(next([denied, bad]) == (false, [1, 3]))
        #expect(next([denied]) == (true, [1]))
        #expect(next([shortfall("/a", .locked)]) == (false, [6]))
        #expect(next([]).since == [])
        #expect(next([denied]) == (false, [8]))
        // Of those that are not kept it is not known.
        let many = (0...KnownShortfall.most).map { shortfall("/\($0)", .locked) }
        _ = next(many)
        #expect(!next(many).isAsBefore)
        let long = (0..<20).map {
            shortfall("/\($0)" + String(repeating: "x", count: 4000), .locked)
        }
        _ = next(long)
        #expect(!next(long).isAsBefore)
    }

    @Test(
        "what a snapshot lacks is news until a run told it, and a SOURCE that is not stored always is"
    )
    func untold() {
        let locked = Shortfall(path: Array("/s/a".utf8), cause: .locked)
        var status = RunStatus(process: 1, start: time, after: nil)
        func run(_ sources: [FilePath], _ code: Int32) -> Bool {
            var start = status.start
            start.seconds += 1
            status = RunStatus(process: 1, start: start, after: status)
            let isAsBefore = status.note([locked], of: sources)
            // The status is stored between the steps, too.
            if code == 0 { return isAsBefore }
            status.finish(code)
            return isAsBefore
        }
        #expect(!run(["/s"], 1))
        #expect(!run(["/s"], 0))
        #expect(!run(["/s"], 130))
        #expect(!run(["/s"], 3))
        #expect(run(["/s"], 3))
        #expect(!run(["/s/a"], 3))
    }

    @Test(
        "a file evicted into another repository is no news while it is held, or once it was accepted"
    )
    func elsewhere() throws {
        let file = Shortfall(path: Array("/s/a".utf8), cause: .elsewhere("is evicted"))
        var fall = HeldPart()
        (fall.path, fall.kind) = (file.path, "other")
        var status = RunStatus(process: 1, start: time, after: nil)
        func run(heldBy snapshot: String?) throws -> RunResult {
            fall.snapshot = snapshot
            var start = status.start
            start.seconds += 1
            status = RunStatus(process: 1, start: start, after: try RunStatus(line()))
            status.holds = [fall]
            var summary = SnapshotSummary(identifier: "1")
            summary.isAsBefore = status.note([file], of: ["/s"], held: status.holds)
            status.snapshot = summary
            status.finish(3)
            return status.result
        }
        func line() -> [UInt8] { status.line(isStale: nil) }
        #expect(try run(heldBy: "1") == .incomplete)
        #expect(try run(heldBy: "1") == .incompleteAsBefore)
        // No earlier snapshot has it.
        #expect(try run(heldBy: nil) == .incomplete)
        #expect(try run(heldBy: nil) == .incomplete)
        status.shortfalls[0].isAccepted = true
        #expect(try run(heldBy: nil) == .incompleteAsBefore)
        // What fell besides is told as a fall.
        fall.path = Array("/s/b".utf8)
        #expect(try run(heldBy: "1") == .coversLess)
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
