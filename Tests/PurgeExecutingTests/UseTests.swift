import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What somebody uses is kept", .cleansUp)
struct UseTests {
    private let tree = Tree {
        File("marked", block).purgeable()
        cache("unit") {
            File("file", block)
            Directory("deep") { File("file", block) }
        }
    }

    /// Expects that both units are kept while `use` holds something, and both go afterwards.
    private func expectKept(
        _ path: String, as reason: KeepReason,
        _ use: (FilePath, () throws -> Void) throws -> Void
    ) throws {
        let home = try purgeHome { tree }
        let unit = path == "marked" ? home("marked") : home(".cache/app/unit")
        try use(home(path)) {
            let report = try home.execute(try home.plan(), home.executor())
            #expect(report.kept[unit] == reason)
            #expect(report.failed == [:])
            #expect(home(path).exists)
        }
        let report = try home.purge()
        #expect(report.kept == [:])
        #expect(!unit.exists)
    }

    @Test("a file that is open", arguments: ["marked", ".cache/app/unit/deep/file"])
    func open(path: String) throws {
        try expectKept(path, as: .inUse) { path, purge in
            let descriptor = try openForReading(path)
            try purge()
            try closeFile(descriptor)
        }
    }

    @Test("a file that is only mapped", arguments: ["marked", ".cache/app/unit/deep/file"])
    func mapped(path: String) throws {
        try expectKept(path, as: .inUse) { path, purge in
            let descriptor = try openForReading(path)
            let memory = mmap(nil, 4096, PROT_READ, MAP_SHARED, descriptor.rawValue, 0)
            try closeFile(descriptor)
            try purge()
            munmap(memory, 4096)
        }
    }

    @Test(
        "what is in use for a moment only goes all the same",
        arguments: [
            ("marked", false), ("marked", true), (".cache/app/unit/deep/file", false),
            (".cache/app/unit/deep", false), (".cache/app/unit/deep", true), (".cache/app", true),
        ])
    func brief(path: String, locks: Bool) throws {
        try require(.tool("python3"))
        let home = try purgeHome { tree }
        let plan = try home.plan()
        // Makes the journal, which waits for the disk.
        try home.executor().finishLeftovers { _ in }
        try useBriefly(home(path), locks: locks)
        let report = try home.execute(plan)
        #expect(report.kept == [:])
        #expect(report.removed == [home("marked"), home(".cache/app/unit")])
    }

    @Test("many units in use keep a run waiting for two seconds at most")
    func manyInUse() throws {
        let names = (0..<40).map { "file\($0)" as FileName }
        let home = try purgeHome { for name in names { File(name, block).purgeable() } }
        let opened = try names.map { try openForReading(home.home.appending($0)) }
        defer { opened.forEach(closeIgnoringErrors) }
        let plan = try home.plan()
        let start = monotonicTime()
        let report = try home.execute(plan)
        #expect(report.kept.count == names.count)
        #expect(report.kept.values.allSatisfy { $0 == .inUse })
        #expect(monotonicTime() - start < .seconds(40))
    }

    @Test("a program that runs")
    func running() throws {
        try expectKept(".cache/app/unit/deep/file", as: .inUse) { path, purge in
            try tool("cp", "/bin/sleep", path)
            try tool("chmod", "755", path)
            let process = try SleepingProcess(path, "60")
            try purge()
            process.end()
        }
    }

    @Test("a unit whose directories are locked, above it or in it")
    func locked() throws {
        for path in [".cache/app", ".cache/app/unit", ".cache/app/unit/deep"] {
            try expectKept(path, as: .locked) { path, purge in
                let descriptor = try openFile(path, flags: [.readOnly, .directory])
                #expect(try takeLock(on: descriptor))
                // The unit itself is also open then.
                try purge()
                try closeFile(descriptor)
            }
        }
    }

    @Test("a unit in which a process works, or of which it has a directory open")
    func processInside() throws {
        try expectKept(".cache/app/unit/deep", as: .processInside) { path, purge in
            let sleeper = Command("/bin/sleep", "60", in: path)
            let process = try SleepingProcess(sleeper)
            try purge()
            process.end()
        }
        try expectKept(".cache/app/unit/deep", as: .processInside) { path, purge in
            let descriptor = try openFile(path, flags: [.readOnly, .directory])
            try purge()
            try closeFile(descriptor)
        }
        try expectKept(".cache/app/unit", as: .processInside) { path, purge in
            let descriptor = try openDirectoryReference(path)
            try purge()
            try closeFile(descriptor)
        }
    }

    @Test("a database of SQLite with a journal that was not written back")
    func database() throws {
        try require(.tool("python3"))
        let script = """
            import sqlite3, sys, os
            c = sqlite3.connect(sys.argv[1])
            c.execute("pragma journal_mode=wal")
            c.execute("create table t (x)")
            c.execute("insert into t values (42)")
            c.commit()
            os.kill(os.getpid(), 9)
            """
        let home = try purgeHome { Directory(".cache") { Directory("app") } }
        for path in [".cache/loose.db", ".cache/app/data.db"] {
            _ = try Command("/usr/bin/python3", "-c", script, home(path)).run()
            #expect(home(path + "-wal").exists)
        }
        let report = try home.purge()
        #expect(report.removed == [])
        // A plan from before the journal was there, or one edited by hand.
        let units = try home.unit(at: home(".cache/app/data.db"))
        let planned = try home.execute(try home.plan([units]))
        #expect(planned.kept == [home(".cache/app/data.db"): .companion])
        let read = """
            import sqlite3, sys
            print(sqlite3.connect(sys.argv[1]).execute("select x from t").fetchone()[0])
            """
        #expect(
            try Command("/usr/bin/python3", "-c", read, home(".cache/app/data.db"))
                .runSuccessfully() == "42")
    }
}
