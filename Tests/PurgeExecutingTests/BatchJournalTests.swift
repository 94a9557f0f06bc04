import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("The journal of directories that are deleted together", .cleansUp)
struct BatchJournalTests {
    @Test(
        "has room for one at a time, or later, when it has none for all of them",
        arguments: [1, 9])
    func noRoom(failures: Int) throws {
        let batch = try batchFixture()
        let answers = [Errno?](repeating: .noSpace, count: failures)
        let report = try batch.purge(SystemCallMock([.pwrite: answers]))
        #expect(report.failed == [:] && report.kept == [:])
        #expect(report.removed == batch.units)
        try batch.expectNothingAside()
    }

    @Test("gives them their names back when it has no room to record that they are being deleted")
    func noRoomForDeletion() throws {
        let batch = try batchFixture()
        let report = try batch.purge(SystemCallMock([.pwrite: [nil, .noSpace]]))
        #expect(report.failed == [:] && report.removed == [])
        // Moving them changed their times, for which they are kept in the end.
        #expect(report.kept == batch.units.reduce(into: [:]) { $0[$1] = .changed })
        #expect(batch.units.allSatisfy(batch.isWhole))
        try batch.expectNothingAside()
    }

    @Test("that has no room for the end of their records makes them failures, though they are gone")
    func noRoomForEnd() throws {
        let batch = try batchFixture()
        let report = try batch.purge(SystemCallMock([.pwrite: [nil, nil, .noSpace]]))
        #expect(Set(report.failed.values.map(\.code)) == [.noSpace])
        #expect(Set(report.failed.keys) == batch.units)
        #expect(batch.units.allSatisfy { !$0.exists })
        try expectFinish(batch.home, [:])
    }

    @Test("that cannot be written gives them their names back")
    func failedRecord() throws {
        let batch = try batchFixture()
        let mock = SystemCallMock([.pwrite: [nil, .ioError]])
        let report = try batch.purge(mock)
        #expect(Set(report.failed.keys) == batch.units)
        #expect(Set(report.failed.values.map(\.code)) == [.inputOutput])
        #expect(report.removed == [])
        #expect(batch.units.allSatisfy(batch.isWhole))
        try batch.expectNothingAside()
    }

    @Test("has the records of those whose directory cannot be synchronized")
    func failedSynchronization() throws {
        let batch = try batchFixture()
        // The journal, twice, then the first of the two directories.
        let mock = SystemCallMock([.fsync: [nil, nil, .ioError]])
        let report = try batch.purge(mock)
        #expect(report.removed.count == 4 && report.failed.count == 4)
        let recorded = try PurgeJournal(in: batch.home.state).records.map {
            FilePath(bytes: $0.path)
        }
        #expect(Set(recorded) == Set(report.failed.keys))
        try expectFinish(batch.home, [:])
    }

    @Test("takes them one by one when their inodes have no room together")
    func manyInodes() throws {
        let batch = try batchFixture(Tree { Directory(".cache") { Directory("app") } })
        let names = ["first", "second", "third"]
        for name in names {
            let unit = batch.home(".cache/app/\(name)")
            try tool("bash", "-c", "mkdir $0 && cd $0 && mkdir {1..3500} && touch 1/file", unit)
        }
        let mock = SystemCallMock([:])
        defer { mock.beforeCall = nil }
        var (removals, recorded) = (0, [[Int]]())
        mock.beforeCall = { call in
            guard call == .unlinkat else { return }
            if removals % 3502 == 0 {
                recorded.append(((try? batch.records()) ?? []).map { $0.knownInodes?.count ?? 0 })
            }
            removals += 1
        }
        let report = try batch.purge(mock)
        #expect(report.removed.count == 3)
        #expect(recorded == [[3501], [3501], [3501]])
    }
}
