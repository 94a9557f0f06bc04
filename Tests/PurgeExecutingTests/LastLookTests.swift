import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("The last look at a unit, or at a directory in it", .cleansUp)
struct LastLookTests {
    /// Executes a plan of everything, with an attack just before the first call of a kind that follows
    /// others.
    ///
    /// - Parameter calls: the calls, each of which is waited for only after the one before.
    private func execute(
        in home: PurgeFixture, attackingAt calls: [SystemCall],
        _ attack: @escaping () throws -> Void
    ) throws -> PurgeReport {
        let plan = try home.plan()
        #expect(plan.units.count == 1)
        try home.executor().finishLeftovers { _ in }
        var left = calls[...]
        let report = try home.execute(plan) { call in
            guard call == left.first else { return }
            left.removeFirst()
            if left.isEmpty { try attack() }
        }
        #expect(left.isEmpty)
        return report
    }

    @Test("keeps a file that is marked after its marks were read")
    func markedFile() throws {
        let home = try purgeHome { File("marked", block).purgeable() }
        // Its lease, its marks, then what uses it.
        let report = try execute(in: home, attackingAt: [.fcntl, .listxattr, .readlinkat]) {
            try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "false", home("marked"))
        }
        #expect(report.kept == [home("marked"): .changed])
        #expect(home("marked").exists)
    }

    @Test("gives another directory that looks the same its name back")
    func lookalike() throws {
        let home = try purgeHome {
            cache("unit") {}
            Directory("Documents") { Directory("same") }
        }
        let unit = home(".cache/app/unit")
        let other = try home("Documents/same").status().identity
        let report = try execute(in: home, attackingAt: [.renameat2]) {
            rename(unit.string, home("moved").string)
            rename(home("Documents/same").string, unit.string)
            try tool("touch", "-r", home("moved"), unit)
        }
        #expect(report.kept == [unit: .changed])
        #expect(report.failed == [:])
        #expect(try unit.status().identity == other)
    }

    @Test("leaves an empty directory that took the place of one in the unit")
    func replacedInside() throws {
        let home = try purgeHome {
            cache("unit") { Directory("deep") { File("file", block) } }
            Directory("Documents") { Directory("empty") }
        }
        let unit = home(".cache/app/unit")
        let other = try home("Documents/empty").status().identity
        var place: FilePath?
        // After the file in it was removed, before the directory is.
        let report = try execute(in: home, attackingAt: [.unlinkat, .statx]) {
            let aside = try #require(try home.unitByNow())
            place = aside.appending("deep")
            rename(aside.appending("deep").string, home("moved").string)
            rename(home("Documents/empty").string, aside.appending("deep").string)
        }
        #expect(report.failed.mapValues(\.code) == [unit: .changed])
        #expect(try place?.status().identity == other)
    }

    @Test("keeps a unit in which a file was overwritten by as many bytes")
    func overwrittenInside() throws {
        let home = try purgeHome { cache("unit") { Directory("deep") { File("file", block) } } }
        let unit = home(".cache/app/unit")
        let report = try execute(in: home, attackingAt: [.renameat2]) {
            try tool(
                "dd", "if=/dev/zero", "of=\(unit)/deep/file", "bs=1", "count=1",
                "conv=notrunc", "status=none")
        }
        #expect(report.kept == [unit: .changed])
        #expect(unit.appending(FilePath("deep/file").components).exists)
    }

    @Test(
        "keeps a unit of which a file is opened after it was examined again",
        arguments: [true, false])
    func openedAside(forWriting: Bool) throws {
        let home = try purgeHome {
            cache("unit") {
                File("file", block)
                Directory("deep") { File("file", block) }
            }
        }
        let unit = home(".cache/app/unit")
        var opened: [FileDescriptor] = []
        defer { opened.forEach(closeIgnoringErrors) }
        // Put aside, all leases of the second examination, then what uses it.
        let report = try execute(in: home, attackingAt: [.renameat2, .fcntl, .fcntl, .readlinkat]) {
            let file = try #require(try home.unitByNow())
                .appending(FilePath("deep/file").components)
            opened.append(try openFile(file, flags: forWriting ? .readWrite : .readOnly))
        }
        #expect(report.kept == [unit: .inUse])
        #expect(report.failed == [:])
        #expect(
            try contentsOfFile(unit.appending(FilePath("deep/file").components)).count
                == block.utf8.count)
    }

    @Test("removes no directory that took the place of one put aside")
    func replacedAside() throws {
        let home = try purgeHome {
            Directory("Documents") { File("document", block) }
            cache("unit") { File("file", block) }
        }
        var place: FilePath?
        // After the second look, before it is recorded that it is being deleted.
        let report = try execute(in: home, attackingAt: [.renameat2, .pwrite]) {
            let aside = try #require(try home.unitByNow())
            place = aside
            rename(aside.string, home("moved").string)
            rename(home("Documents").string, aside.string)
        }
        #expect(report.failed.mapValues(\.code) == [home(".cache/app/unit"): .changed])
        #expect(try #require(place).appending("document").exists)
    }

    @Test("leaves a file that was moved into a directory while it was removed")
    func movedFileIn() throws {
        let home = try purgeHome {
            Directory("Documents") { File("document", block) }
            cache("unit") {
                for name in ["a", "b"] { Directory("\(name)") { File("file", block) } }
            }
        }
        var place: FilePath?
        let report = try execute(in: home, attackingAt: [.unlinkat]) {
            let aside = try #require(try home.unitByNow())
            place = aside
            // One of them is not listed yet.
            for name in ["a", "b"] {
                try tool("cp", "-a", home("Documents/document"), "\(aside)/\(name)/document")
            }
        }
        #expect(report.failed.mapValues(\.code) == [home(".cache/app/unit"): .changed])
        let aside = try #require(place)
        #expect(
            ["a", "b"].allSatisfy {
                aside.appending(FilePath("\($0)/document").components).exists
            })
    }
}
