import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Carrying out a plan", .cleansUp)
struct RemovalTests {
    @Test("begins where something is mounted, and goes onto no other mount")
    func mountedRoot() throws {
        try require(.root)
        let home = try purgeHome {
            File("marked", block).purgeable()
            cache("unit") { File("file", block) }
            Directory("mounted") { File("marked", block).purgeable() }.purgeable()
        }
        for path in [home.home, home("mounted")] { try tool("mount", "--bind", path, path) }
        defer { for path in [home("mounted"), home.home] { _ = try? tool("umount", path) } }
        let report = try home.purge()
        #expect(report.removed == [home("marked"), home(".cache/app/unit")])
        #expect(home("mounted/marked").exists)
    }

    @Test("removes the units of the plan and nothing else")
    func removes() throws {
        let home = try purgeHome {
            File("marked", block).purgeable()
            File("unmarked", block)
            Directory("unit") {
                File("first", block)
                Directory("deep") { File("second", block) }
                SymbolicLink("link", to: "../Documents/document")
            }.purgeable()
            Directory("Documents") { File("document", block).purgeable() }
            File(".cache/loose", block)
            File(".cache/app/unit/file", block)
        }
        let report = try home.purge()
        let units = ["marked", "unit", ".cache/loose", ".cache/app/unit"].map { home($0) }
        #expect(report.removed == Set(units))
        #expect(report.kept == [:])
        #expect(report.failed == [:])
        #expect(report.leftovers == [:])
        for unit in units { #expect(!unit.exists) }
        #expect(home("unmarked").exists)
        #expect(home("Documents/document").exists)
        #expect(home(".cache/app").exists)
    }

    @Test("rehearsed removes nothing and says the same")
    func rehearsal() throws {
        let home = try purgeHome {
            File("marked", block).purgeable()
            cache("unit") { File("file", block) }
        }
        let report = try home.purge { $0.mode = .rehearse }
        #expect(report.removed == [home("marked"), home(".cache/app/unit")])
        #expect(home("marked").exists)
        #expect(home(".cache/app/unit/file").exists)
        #expect(report.outcome.measuredBytes == nil)
        #expect(!home.state.exists)
    }

    @Test("reaches any name and any depth")
    func names() throws {
        let home = try purgeHome {
            Directory(".cache") {
                Directory("app") {
                    for name in HostileNames.all {
                        Directory(name) { File(name, block) }
                    }
                }
                for name in HostileNames.all { File(name, block) }
                Directory("deep/unit") {
                    NestedDirectories(HostileNames.longest, depth: 100) { File("file", block) }
                }
            }
        }
        let report = try home.purge()
        #expect(report.kept == [:])
        #expect(report.failed == [:])
        #expect(report.removed.count == 2 * HostileNames.all.count + 1)
        #expect(!home(".cache/deep/unit").exists)
    }

    @Test("goes to a unit beyond PATH_MAX")
    func longPath() throws {
        let home = try purgeHome {
            NestedDirectories(HostileNames.longest, depth: 20) {
                Directory("unit") { File("file", block) }.purgeable()
                File("marked", block).purgeable()
            }
        }
        let report = try home.purge()
        #expect(report.failed == [:])
        #expect(report.kept == [:])
        #expect(report.removed.count == 2)
        #expect(!report.removed.contains { $0.exists })
    }

    @Test("ends on request")
    func stop() throws {
        let home = try purgeHome { File("marked", block).purgeable() }
        let report = try home.purge { $0.shouldStop = { true } }
        #expect(report.outcome.isStopped)
        #expect(home("marked").exists)
    }

    @Test("lets one purger of a user work at a time")
    func twoPurgers() throws {
        let home = try purgeHome { File("marked", block).purgeable() }
        let plan = try home.plan()
        let first = try PurgeJournal(in: home.state)
        #expect(throws: PurgeRefusal.anotherIsAtWork) {
            try home.executor().execute(plan, now: .later) { _ in }
        }
        withExtendedLifetime(first) {}
        #expect(home("marked").exists)
    }
}
