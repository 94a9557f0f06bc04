import Glibc
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What has changed since it was planned is kept")
struct ChangeTests {
    private let tree = Tree {
        File("marked", block).purgeable()
        Directory("unit") {
            File("file", block)
            Directory("deep") { File("file", block) }
        }.purgeable()
        Directory(".cache") { Directory("app") { File("file", block) } }
    }

    /// Changes something between the plan and the run, and expects a unit to be kept.
    private func expectKept(
        _ unit: String, as reason: KeepReason, after change: (PurgeFixture) throws -> Void
    ) throws {
        try withPurgeHome(tree) { home in
            let plan = try home.plan()
            #expect(plan.units.count == 3)
            try change(home)
            let report = try home.execute(plan)
            #expect(report.kept == [home(unit): reason])
            #expect(report.failed == [:])
            #expect(home(unit).exists)
        }
    }

    @Test("when its mark was removed, or says false now, on it, above it or in it")
    func marks() throws {
        try expectKept("marked", as: .changed) { home in
            try home("marked").removeValue(for: .isPurgeable)
        }
        try expectKept("marked", as: .changed) { home in
            try home("marked").setValue(false, for: .isPurgeable)
        }
        try expectKept("unit", as: .protected(Effective(.markedFalse))) { home in
            try home("unit/deep/file").setValue(false, for: .isPurgeable)
        }
        try withPurgeHome(tree) { home in
            let plan = try home.plan()
            try home(".cache").setValue(false, for: .isPurgeable)
            let report = try home.execute(plan)
            #expect(report.kept.map(\.key) == [home(".cache/app/file")])
            #expect(report.kept.map(\.value.name) == ["protected"])
        }
    }

    @Test("when a file was changed, or another has its name, of the same size and time")
    func files() throws {
        try expectKept("marked", as: .changed) { home in
            try overwriteByte(of: home("marked"))
        }
        try expectKept("marked", as: .changed) { home in
            try tool("cp", "-p", "--preserve=all", home("marked"), home("other"))
            try tool("mv", home("other"), home("marked"))
        }
        try expectKept("marked", as: .changed) { home in
            try tool("rm", home("marked"))
            try tool("ln", "-s", home("unit/file"), home("marked"))
        }
    }

    @Test("when anything in a directory was changed, added, removed or renamed, however deep")
    func directories() throws {
        try expectKept("unit", as: .changed) { home in
            try overwriteByte(of: home("unit/deep/file"))
        }
        try expectKept("unit", as: .changed) { home in
            try tool("touch", home("unit/deep/new"))
        }
        try expectKept("unit", as: .changed) { home in
            try tool("rm", home("unit/deep/file"))
        }
        try expectKept("unit", as: .changed) { home in
            try tool("mv", home("unit/deep/file"), home("unit/deep/other"))
        }
        try expectKept("unit", as: .changed) { home in
            try tool("mv", home("unit"), home("moved"))
            try tool("cp", "-a", home("moved"), home("unit"))
        }
    }

    @Test("when a link to it was made elsewhere")
    func hardLink() throws {
        try expectKept("marked", as: .freesNothing) { home in
            try tool("mkdir", home("Documents"))
            try tool("ln", home("marked"), home("Documents/marked"))
        }
    }

    @Test("when a file came to it that has old times only", arguments: [60])
    func freshWithOldTimes(age: Int64) throws {
        let old = FileTime(seconds: 1_000_000_000, nanoseconds: 0)
        try withPurgeHome(tree) { home in
            for path in ["marked", "unit/file", "unit/deep/file", ".cache/app/file"] {
                try tool("touch", "-d", "@\(old.seconds)", home(path))
                #expect(try home(path).status().contentModificationTime == old)
            }
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            let time = FileTime(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
            // A plan made by hand has what the search would not find.
            let all = try home.plan().units
            let plan = PurgePlan(
                created: time, bootID: try bootIdentifier(),
                device: try home.home.status().identity.device, wantedBytes: .max, units: all)
            #expect(all.count == 3)
            var report = PurgeReport()
            let executor = home.executor(home.search(minimumAge: age))
            report.outcome = try executor.execute(plan, now: time) { report.add($0) }
            #expect(Set(report.kept.values) == [.tooYoung(minimumAge: age)])
            #expect(report.removed == [])
        }
    }

    @Test(
        "when it was used after the run began, which is told as that", arguments: ["cat", "touch"])
    func used(command: String) throws {
        try withPurgeHome(tree) { home in
            let plan = try home.plan()
            let begin = FileTime.now
            // The kernel's clock for files advances every few milliseconds.
            try tool("sleep", "0.02")
            for path in ["marked", "unit/deep/file", ".cache/app/file"] {
                try tool(command, home(path))
            }
            var report = PurgeReport()
            let fresh = PurgePlan(
                created: begin, bootID: plan.bootID, device: plan.device, wantedBytes: .max,
                units: plan.units)
            report.outcome = try home.executor().execute(fresh, now: begin) { report.add($0) }
            #expect(Set(report.kept.values) == [.changed])
            #expect(report.kept.count == 3)
        }
    }

    private func overwriteByte(of path: FilePath) throws {
        try tool(
            "dd", "if=/dev/zero", "of=\(path)", "bs=1", "count=1", "conv=notrunc", "status=none")
    }
}
