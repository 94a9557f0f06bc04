import EffectiveValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

// One after the other: a program of one test counts in the others.
@Suite("Temporary files that running programs may need", .cleansUp, .serialized)
struct TemporaryFileUsersTests {
    private let user: UInt32 = 65531

    /// A search in a directory that all programs use for temporary files.
    private func search(_ home: PurgeFixture) -> UnitSearch {
        let environment = ["HOME": home.home, "TMPDIR": home("tmp")]
        var search = UnitSearch(
            PolicyEnvironment(
                environment: environment, passwordDatabase: "/dev/null", user: effectiveUser()))
        search.minimumAge = 0
        search.smallest = 0
        search.roots = [home("tmp")]
        search.temporaryFilesDirectories = []
        search.includesForeign = true
        return search
    }

    private func found(
        _ home: PurgeFixture, now: FileTime = .now, _ pressure: PurgePressure = .low
    ) throws -> (units: Set<FilePath>, kept: [FilePath: KeepReason]) {
        let kept = Monitor<[FilePath: KeepReason]>([:])
        var search = search(home)
        search.pressure = pressure
        let found = try search.units(freeing: .max, on: home.home, now: now) { path, reason in
            kept.withLock { $0[FilePath(bytes: path)] = reason }
        }
        return (Set(found.units.map { FilePath(bytes: $0.path) }), kept.withLock { $0 })
    }

    /// Starts a program of the user that sleeps.
    private func sleeping(_ home: PurgeFixture, _ words: String = "") throws -> SleepingProcess {
        try tool("chmod", "755", home.root, home.home)
        let ready = home("ready/\(UInt64.random(in: 0 ... .max))")
        let process = try SleepingProcess(
            "/usr/bin/setpriv", "--reuid=\(user)", "--clear-groups", "sh", "-c",
            "touch $0 && exec \(words) sleep 100", ready)
        try wait(for: ready)
        return process
    }

    private let tree = Tree {
        Directory("tmp") {
            Directory("before") { File("file", block) }
            File("loose", block)
        }.permissions(0o1777)
        Directory("ready").permissions(0o777)
    }

    @Test("stay while a program of their owner runs that was running when they were made")
    func program() throws {
        try require(.root)
        let home = try purgeHome { tree }
        for name in ["tmp/before", "tmp/loose"] {
            try tool("chown", "-R", "\(user)", home(name))
        }
        try #expect(found(home).units == [home("tmp/before"), home("tmp/loose")])
        // The clocks of processes and files differ by less.
        try tool("sleep", "3")
        let process = try sleeping(home)
        try Tree { Directory("after") { File("file", block) } }.create(in: home("tmp"))
        try tool("chown", "-R", "\(user)", home("tmp/after"))
        for pressure in [PurgePressure.low, .critical] {
            let during = try found(home, pressure)
            #expect(during.units == [home("tmp/before"), home("tmp/loose")])
            #expect(during.kept == [home("tmp/after"): .programRunning])
        }
        // Not in a directory of its own, and not at the age at which systemd deletes it.
        try #expect(found(home, now: .later).units.count == 3)
        process.end()
        try #expect(found(home).units.count == 3)
    }

    @Test("are those of a service for ten minutes after its start, and none of a shell")
    func sessions() throws {
        try require(.root)
        let home = try purgeHome { tree }
        func mayNeed(minutes: Int64, isUrgent: Bool = false) -> Bool {
            var made = FileTime.now
            made.seconds += minutes * 60
            return TemporaryFileUsers().mayNeed(itemOf: user, made: made, isUrgent: isUrgent)
        }
        #expect(!mayNeed(minutes: 5))
        let program = try sleeping(home)
        #expect(mayNeed(minutes: 5) && mayNeed(minutes: 60) && !mayNeed(minutes: -5))
        #expect(mayNeed(minutes: 5, isUrgent: true) && !mayNeed(minutes: 60, isUrgent: true))
        program.end()
        let service = try sleeping(home, "setsid")
        #expect(mayNeed(minutes: 5) && !mayNeed(minutes: 60))
        service.end()
        #expect(!mayNeed(minutes: 5))
    }

    @Test("stay while a program waits for changes in them")
    func watched() throws {
        try require(.tool("python3"))
        let home = try purgeHome { tree }
        try Tree {
            Directory("unit") { Directory("watched") { File("file", block) } }
        }.create(in: home("tmp"))
        let script = """
            import ctypes, sys, time
            libc = ctypes.CDLL(None)
            descriptor = libc.inotify_init1(0)
            for path in sys.argv[2:]:
                assert libc.inotify_add_watch(descriptor, path.encode(), 0x100) > 0
            open(sys.argv[1], "w").close()
            time.sleep(100)
            """
        let ready = home("ready/watching")
        let process = try SleepingProcess(
            "/usr/bin/python3", "-c", script, ready, home("tmp/unit/watched"),
            home("tmp/loose"))
        try wait(for: ready)
        let during = try found(home, now: .later)
        #expect(during.units == [home("tmp/before")])
        #expect(during.kept == [home("tmp/unit"): .watched, home("tmp/loose"): .watched])
        // A run asks again.
        let planned = try home.plan([home.unit(at: home("tmp/loose"), .temporary)])
        let report = try home.execute(planned, home.executor(search(home)))
        #expect(report.kept == [home("tmp/loose"): .watched])
        process.end()
        try #expect(found(home, now: .later).units.count == 3)
    }
}
