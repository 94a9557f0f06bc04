import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What has changed since it was planned is kept", .cleansUp)
struct ChangeTests {
    private let tree = Tree {
        File("marked", block).purgeable()
        Directory("unit") {
            File("file", block)
            Directory("deep") { File("file", block) }
        }.purgeable()
        Directory(".cache") { Directory("app") { File("file", block) } }
    }

    /// What changes a unit, by a script in the home, and why it is kept then.
    private static let changes: [(unit: String, script: String, reason: KeepReason)] = [
        // Its mark was removed, or says false now, on it or in it.
        ("marked", "setfattr -x user.resval.isPurgeable marked", .changed),
        ("marked", "setfattr -n user.resval.isPurgeable -v false marked", .changed),
        (
            "unit", "setfattr -n user.resval.isPurgeable -v false unit/deep/file",
            .protected(Effective(.markedFalse))
        ),
        // A file was changed, or another has its name, of the same size and time.
        ("marked", overwrite("marked"), .changed),
        ("marked", "cp -p --preserve=all marked other; mv other marked", .changed),
        ("marked", "rm marked; ln -s unit/file marked", .changed),
        // Anything in a directory was changed, added, removed or renamed, however deep.
        ("unit", overwrite("unit/deep/file"), .changed), ("unit", "touch unit/deep/new", .changed),
        ("unit", "rm unit/deep/file", .changed),
        ("unit", "mv unit/deep/file unit/deep/other", .changed),
        ("unit", "mv unit moved; cp -a moved unit", .changed),
        // A link to it was made elsewhere.
        ("marked", "mkdir Documents; ln marked Documents/marked", .freesNothing),
    ]

    private static func overwrite(_ file: String) -> String {
        "dd if=/dev/zero of=\(file) bs=1 count=1 conv=notrunc status=none"
    }

    @Test("whatever was changed between the plan and the run", arguments: changes)
    func changed(unit: String, script: String, reason: KeepReason) throws {
        let home = try purgeHome { tree }
        let plan = try home.plan()
        #expect(plan.units.count == 3)
        try shell("cd \"$1\"; \(script)", home.home)
        let report = try home.execute(plan)
        #expect(report.kept == [home(unit): reason])
        #expect(report.failed == [:])
        #expect(home(unit).exists)
    }

    @Test("when a mark above it says false now")
    func markedAbove() throws {
        let home = try purgeHome { tree }
        let plan = try home.plan()
        try home(".cache").setValue(false, for: .isPurgeable)
        let report = try home.execute(plan)
        #expect(report.kept.map(\.key) == [home(".cache/app/file")])
        #expect(report.kept.map(\.value.name) == ["protected"])
    }

    @Test("when a file came to it that has old times only")
    func freshWithOldTimes() throws {
        let old = FileTime(seconds: 1_000_000_000, nanoseconds: 0)
        let home = try purgeHome { tree }
        for path in ["marked", "unit/file", "unit/deep/file", ".cache/app/file"] {
            try tool("touch", "-d", "@\(old.seconds)", home(path))
            #expect(try home(path).status().contentModificationTime == old)
        }
        let now = FileTime.now
        // A plan made by hand has what the search would not find.
        let all = try home.plan().units
        #expect(all.count == 3)
        let report = try home.execute(
            home.plan(all, created: now), home.executor(home.search(minimumAge: 60)), now: now)
        #expect(Set(report.kept.values) == [.tooYoung(minimumAge: 60)])
        #expect(report.removed == [])
    }

    @Test(
        "when it was used after the run began, which is told as that", arguments: ["cat", "touch"])
    func used(command: String) throws {
        let home = try purgeHome { tree }
        let plan = try home.plan()
        let begin = FileTime.now
        // The kernel's clock for files advances every few milliseconds.
        try tool("sleep", "0.02")
        for path in ["marked", "unit/deep/file", ".cache/app/file"] {
            try tool(command, home(path))
        }
        let report = try home.execute(home.plan(plan.units, created: begin), now: begin)
        #expect(Set(report.kept.values) == [.changed])
        #expect(report.kept.count == 3)
    }
}
