import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Directories that are deleted together", .cleansUp)
struct BatchTests {
    @Test("share each write of the journal, and the synchronization of their directory")
    func sharedSteps() throws {
        let batch = try batchFixture()
        let mock = SystemCallMock([:])
        let report = try batch.purge(mock)
        #expect(report.removed == batch.units)
        // Put aside, being deleted, deleted.
        #expect(mock.calls[.pwrite] == 3)
        // Those, and the two directories.
        #expect(mock.calls[.fsync] == 5)
    }

    @Test("are 32 at most")
    func longest() throws {
        let tree = Tree {
            for index in 0..<70 { Directory(".cache/app/unit\(index)") { File("file", block) } }
        }
        let batch = try batchFixture(tree)
        let mock = SystemCallMock([:])
        let report = try batch.purge(mock)
        #expect(report.removed.count == 70)
        #expect(mock.calls[.pwrite] == 9)
    }

    @Test("are no more than were examined within the time for that")
    func duration() throws {
        let batch = try batchFixture()
        let home = batch.home
        let plan = try home.plan()
        try home.executor().finishLeftovers { _ in }
        var executor = batch.executor()
        executor.batchDuration = .zero
        let mock = SystemCallMock([:])
        let report = try mock.run { try home.execute(plan, executor) }
        #expect(report.removed == batch.units)
        #expect(mock.calls[.pwrite] == 3 * 8)
    }

    @Test(
        "are those that are needed when all before them are deleted as expected, and no others",
        arguments: [PurgeExecutor.Mode.delete, .rehearse], [0, 1])
    func bound(mode: PurgeExecutor.Mode, kept: Int) throws {
        let batch = try batchFixture()
        let home = batch.home
        var search = home.search()
        search.goal = .smallerDirectory
        let units = try home.plan(search).units
        #expect(units.count == 8)
        // What the first three free, or one byte more than two of them.
        let wanted = units[0].bytes + units[1].bytes + 1
        let plan = try home.plan(units, wanting: wanted)
        if kept > 0 { try tool("touch", FilePath(bytes: units[1].path).appending("new")) }
        var executor = batch.executor(search)
        executor.mode = mode
        let report = try home.execute(plan, executor)
        let expected = units[..<(3 + kept)].enumerated().filter { kept == 0 || $0.offset != 1 }
        #expect(report.removed == Set(expected.map { FilePath(bytes: $0.element.path) }))
        #expect(report.kept.count == kept)
        #expect(report.outcome.isReached)
    }

    @Test("and files between them are reported in the order of the plan")
    func order() throws {
        let names = ["a", "b", "c", "d", "e", "f"]
        let tree = Tree {
            Directory(".cache/app") {
                for name in names {
                    if ["a", "c", "f"].contains(name) {
                        Directory("\(name)") { File("file", block) }
                    } else {
                        File("\(name)", block)
                    }
                }
            }
        }
        let batch = try batchFixture(tree)
        let home = batch.home
        let units = try names.map { name in
            try #require(home.plan().units.first { $0.path == home(".cache/app/\(name)").bytes })
        }
        try tool("touch", home(".cache/app/d"), home(".cache/app/c/new"))
        var order: [String] = []
        _ = try batch.executor().execute(try home.plan(units), now: .later) { event in
            switch event {
            case .removed(let unit, _): order.append("removed " + lastByte(unit))
            case .kept(let unit, .changed): order.append("changed " + lastByte(unit))
            default: Issue.record("\(event)")
            }
        }
        #expect(
            order == [
                "removed a", "removed b", "changed c", "changed d", "removed e", "removed f",
            ])
    }

    private func lastByte(_ unit: PurgeUnit) -> String {
        String(decoding: unit.path.suffix(1), as: UTF8.self)
    }

    @Test("stay when the run is stopped before they are put aside")
    func stoppedBefore() throws {
        let batch = try batchFixture()
        let asked = Monitor(0)
        var executor = batch.executor()
        executor.shouldStop = {
            asked.withLock {
                $0 += 1
                return $0 > 3
            }
        }
        let report = try batch.home.execute(try batch.home.plan(), executor)
        #expect(report.outcome.isStopped)
        #expect(report.removed == [] && report.kept == [:] && report.failed == [:])
        #expect(batch.units.allSatisfy(batch.isWhole))
        try batch.expectNothingAside()
    }

    @Test("get their names back when the run is stopped, except the one whose removal has begun")
    func stoppedInside() throws {
        let batch = try batchFixture()
        let isStopped = Monitor(false)
        var executor = batch.executor()
        executor.shouldStop = { isStopped.withLock { $0 } }
        let report = try batch.home.execute(batch.home.plan(), executor) { call in
            if call == .unlinkat { isStopped.withLock { $0 = true } }
        }
        #expect(report.outcome.isStopped)
        #expect(report.removed.count == 1 && report.kept == [:] && report.failed == [:])
        let left = batch.units.subtracting(report.removed)
        #expect(left.count == 7 && left.allSatisfy(batch.isWhole))
        try batch.expectNothingAside()
    }

    @Test("do not include a directory twice")
    func twice() throws {
        let batch = try batchFixture()
        let home = batch.home
        let units = try home.plan().units
        let plan = try home.plan(units + units)
        var (removed, kept) = (0, 0)
        _ = try batch.executor().execute(plan, now: .later) { event in
            if case .removed = event { removed += 1 }
            if case .kept(_, .changed) = event { kept += 1 }
        }
        #expect(removed == 8 && kept == 8)
    }

    @Test(
        "directories go together when a file has names in several of them, also without birth time",
        arguments: [FilesystemKind.ext4, .ext4SmallInodes])
    func linked(kind: FilesystemKind) throws {
        let home = try purgeHomes(on: kind).home(BatchFixture.tree)
        let batch = BatchFixture(home: home)
        for unit in 1..<4 {
            try tool(
                "ln", home(".cache/app/unit0/file"),
                home(".cache/app/unit\(unit)/deep/linked"))
        }
        let report = try home.execute(try home.plan(), batch.executor())
        #expect(report.removed == batch.units, "\(report.failed)")
        try batch.expectNothingAside()
    }

    @Test("that cannot get their names back when the run is stopped are not deleted later, either")
    func stoppedWithNamesTaken() throws {
        let batch = try batchFixture()
        let isStopped = Monitor(false)
        var executor = batch.executor()
        executor.shouldStop = { isStopped.withLock { $0 } }
        let report = try batch.home.execute(batch.home.plan(), executor) { call in
            guard call == .unlinkat, !isStopped.withLock({ $0 }) else { return }
            isStopped.withLock { $0 = true }
            for unit in batch.units { mkdir(unit.string, 0o700) }
        }
        #expect(report.removed.count == 1 && report.failed.count == 7)
        let records = try PurgeJournal(in: batch.home.state).records
        #expect(records.count == 7 && records.allSatisfy { $0.state == .aside })
        for record in records {
            #expect(batch.isWhole(FilePath(bytes: record.asidePath)))
        }
    }
}
