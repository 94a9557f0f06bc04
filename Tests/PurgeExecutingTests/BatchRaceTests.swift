import Glibc
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("A change in one of several directories that are deleted together", .cleansUp)
struct BatchRaceTests {
    /// Executes a plan of all units, with an attack on one after all were put aside, and expects that
    /// it is kept whole and all others are deleted.
    ///
    /// - Parameter change: receives the path that the unit has then.
    private func expectKeptAlone(
        as reasons: Set<KeepReason>, _ change: @escaping (FilePath) throws -> Void,
        afterwards: (BatchFixture, FilePath) throws -> Void = { _, _ in }
    ) throws {
        let batch = try batchFixture()
        let home = batch.home
        let victim = home(".cache/app/unit2")
        var renames = 0
        var aside: FilePath?
        let report = try batch.purge { call in
            if call == .renameat2 { renames += 1 }
            guard renames == 8, aside == nil, call == .flock else { return }
            aside = try batch.asidePath(of: victim)
            if let aside { try change(aside) }
        }
        #expect(aside != nil)
        #expect(report.removed == batch.units.subtracting([victim]))
        #expect(report.kept.keys.map { $0 } == [victim])
        #expect(report.kept.values.allSatisfy(reasons.contains), "\(report.kept)")
        #expect(report.failed == [:])
        #expect(victim.exists)
        try batch.expectNothingAside()
        try afterwards(batch, victim)
    }

    @Test("keeps one of which a file is opened")
    func opened() throws {
        var opened: [FileDescriptor] = []
        defer { opened.forEach(closeIgnoringErrors) }
        try expectKeptAlone(as: [.inUse]) { unit in
            opened.append(try openForReading(unit.appending(FilePath("deep/file").components)))
        } afterwards: { batch, unit in
            #expect(batch.isWhole(unit))
        }
    }

    @Test("keeps one of which a directory is opened or entered")
    func entered() throws {
        var opened: [FileDescriptor] = []
        defer { opened.forEach(closeIgnoringErrors) }
        try expectKeptAlone(as: [.processInside]) { unit in
            opened.append(try openDirectoryReference(unit.appending("deep")))
        } afterwards: { batch, unit in
            #expect(batch.isWhole(unit))
        }
        var process: SleepingProcess?
        try expectKeptAlone(as: [.processInside]) { unit in
            let sleeper = Command("/bin/sleep", "60", in: unit.appending("deep"))
            process = try SleepingProcess(sleeper)
        } afterwards: { batch, unit in
            #expect(batch.isWhole(unit))
        }
        process?.end()
    }

    @Test("keeps one that is modified")
    func modified() throws {
        try expectKeptAlone(as: [.changed]) { unit in
            try tool("cp", "/bin/true", unit.appending(FilePath("deep/new").components))
        } afterwards: { batch, unit in
            #expect(batch.isWhole(unit))
            #expect(unit.appending(FilePath("deep/new").components).exists)
        }
        try expectKeptAlone(as: [.protected(Effective(.markedFalse)), .changed]) { unit in
            try unit.appending("deep").setValue(false, for: .isPurgeable)
        } afterwards: { batch, unit in
            #expect(batch.isWhole(unit))
        }
    }

    @Test("keeps what one is replaced by")
    func replaced() throws {
        try expectKeptAlone(as: [.changed, .symbolicLink, .putAside]) { unit in
            let documents = unit.removingLastComponent().removingLastComponent()
                .removingLastComponent().appending("Documents")
            rename(unit.string, documents.appending("moved").string)
            symlink(documents.string, unit.string)
        } afterwards: { batch, unit in
            let kind = try unit.withoutFollowing.status().kind
            #expect(kind == .symbolicLink)
            #expect(batch.home("Documents/document").exists)
            #expect(batch.isWhole(batch.home("Documents/moved")))
        }
    }

    @Test("leaves one aside whose name is taken, with its record")
    func nameTaken() throws {
        let batch = try batchFixture()
        let home = batch.home
        let victim = home(".cache/app/unit2")
        var aside: FilePath?
        let report = try batch.purge { call in
            guard call == .flock, aside == nil, !victim.exists else { return }
            aside = try batch.asidePath(of: victim)
            if let aside { try tool("touch", aside.appending("new")) }
            try tool("mkdir", victim)
        }
        let kept = try #require(aside)
        #expect(report.removed == batch.units.subtracting([victim]))
        #expect(Array(report.failed.keys) == [victim])
        #expect(try PurgeJournal(in: home.state).records.map(\.asidePath) == [kept.bytes])
        try tool("rmdir", victim)
        try expectFinish(home, [victim: .restored])
        #expect(batch.isWhole(victim))
    }

    @Test("leaves what comes into one while it is removed")
    func cameLate() throws {
        let batch = try batchFixture()
        let home = batch.home
        let victim = home(".cache/app/unit2")
        var aside: FilePath?
        let report = try batch.purge { call in
            guard call == .unlinkat, aside == nil else { return }
            aside = try batch.asidePath(of: victim)
            if let aside { rename(home("Documents").string, aside.appending("late").string) }
        }
        let kept = try #require(aside)
        #expect(report.removed == batch.units.subtracting([victim]))
        #expect(report.failed.mapValues(\.code) == [victim: .changed])
        #expect(kept.appending(FilePath("late/document").components).exists)
        #expect(try PurgeJournal(in: home.state).records.map(\.asidePath) == [kept.bytes])
    }
}
