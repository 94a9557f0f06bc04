import EffectiveValues
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("On a full disk", .cleansUp)
struct FullDiskTests {
    private func freeBytes(_ path: FilePath) throws -> Int64 {
        let status = try filesystemStatus(of: path)
        return Int64(status.freeBlocks * status.fragmentSize)
    }

    @Test(
        "a plan is carried out until the measured free space has grown by what it wants",
        arguments: [FilesystemKind.ext4, .xfs, .btrfs])
    func target(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind)
        let tree = Tree {
            File("home/Documents/document", block).purgeable()
            Directory("home/.cache") {
                for app in 0..<12 {
                    Directory("app\(app)") {
                        Directory("unit")
                        Directory("other")
                    }
                }
            }
        }
        try tree.create(in: filesystem.root)
        let home = PurgeFixture(root: filesystem.root)
        // The journal takes its blocks while there are some.
        _ = try PurgeJournal(in: home.state)
        for app in 0..<12 {
            for path in ["unit/file", "other/file", "loose"] {
                _ = try Command(
                    "/bin/dd", "if=/dev/zero", "bs=64K", "count=8", "status=none",
                    "of=\(home(".cache/app\(app)/\(path)"))"
                ).run()
            }
        }
        _ = try Command(
            "/bin/dd", "if=/dev/zero", "bs=64K", "status=none",
            "of=\(home("Documents/filler"))"
        ).run()
        try tool("sync", "-f", filesystem.root)
        let before = try freeBytes(filesystem.root)
        let wanted: Int64 = 6 << 20
        let plan = try home.plan(wanting: wanted)
        var executor = home.executor()
        executor.measureRepeats = 5
        let report = try home.execute(plan, executor)
        #expect(report.failed == [:])
        #expect(report.kept == [:])
        #expect(report.outcome.isReached)
        #expect(try freeBytes(filesystem.root) - before >= wanted - (1 << 19))
        #expect((report.outcome.measuredBytes ?? 0) >= wanted)
        #expect(report.removed.count < 36)
        #expect(try contentsOfFile(home("Documents/document")) == Array(block.utf8))
        #expect(home("Documents/filler").exists)
    }

    @Test(
        "files make the room that the journal needs, and directories go after them",
        arguments: [true, false])
    func noRoomForJournal(hasFile: Bool) throws {
        let filesystem = try filesystem(.ext4)
        // The directory is the oldest, and so comes first.
        let home = try cacheOfMebibytes(
            2, on: filesystem.root, beside: Directory("unit") { File("file", block) })
        let state = Tree { Directory("state") { File("journal", "") } }
        if hasFile { try state.create(in: filesystem.root) }
        for size in ["64K", "1K"] {
            let filling = try Command(
                "/bin/dd", "if=/dev/zero", "bs=\(size)", "status=none",
                "of=\(home("filler-\(size)"))"
            ).run()
            #expect(filling.errorText.contains("No space left on device"))
        }
        try tool("sync", "-f", filesystem.root)
        let report = try home.execute(try home.plan())
        #expect(report.failed == [:])
        #expect(report.kept == [:])
        #expect(report.removed.count == 3)
        #expect(!home(".cache/app/unit").exists)
    }

    @Test("a directory that a quota stops in the middle is a failure, and not taken for another")
    func quotaInTheMiddle() throws {
        let home = try purgeHome {
            cache("unit") {
                File("first", block)
                File("second", block)
            }
        }
        let plan = try home.plan()
        let mock = SystemCallMock([.unlinkat: [nil, .diskQuotaExceeded]])
        let report = try mock.run { try home.execute(plan) }
        #expect(report.failed.mapValues(\.code) == [home(".cache/app/unit"): .quotaExceeded])
        #expect(report.kept == [:])
        #expect(report.outcome.failures == 1)
    }

    @Test("going on waits for room for the journal, too")
    func goingOnWithoutRoom() throws {
        let home = try purgeHome {
            File(".cache/app/changed", block)
            File(".cache/app/unit/file", block)
        }
        let plan = try home.plan([home.unit(at: home(".cache/app/changed"))])
        try tool("touch", "-d", "2001-01-01", home(".cache/app/changed"))
        var executor = home.executor()
        executor.goesOn = true
        _ = try PurgeJournal(in: home.state)
        let mock = SystemCallMock([.pwrite: [.noSpace]])
        let report = try mock.run { try home.execute(plan, executor) }
        #expect(report.failed == [:])
        #expect(report.kept == [home(".cache/app/changed"): .changed])
        #expect(report.removed == [home(".cache/app/unit")])
    }

    @Test("going on deletes no more than is wanted when others use up what is freed")
    func goingOnBesideWriters() throws {
        let filesystem = try filesystem(.ext4)
        let home = try cacheOfMebibytes(12, on: filesystem.root)
        let changed = home(".cache/app/0")
        let names = [changed, home(".cache/app/1")].map(\.bytes)
        let units = try home.plan().units.filter { names.contains($0.path) }
        #expect(units.count == 2)
        let plan = try home.plan(units, wanting: (2 << 20) - (64 << 10))
        try tool("touch", "-d", "2001-01-01", changed)
        var executor = home.executor()
        executor.goesOn = true
        let report = try home.execute(
            plan, executor, beforeCall: writing(16 << 16, below: home.root))
        #expect(Array(report.kept.keys) == [changed])
        #expect(report.removed.count == 2)
        #expect(report.outcome.isReached)
    }

    @Test("the journal's place stays reserved on filesystems that copy on write")
    func reservedJournal() throws {
        let filesystem = try filesystem(.btrfs)
        let home = PurgeFixture(root: filesystem.root)
        try PurgeJournal(in: home.state).remove([AsideRecord()])
        let flags = try tool("lsattr", home.state.appending("journal"))
        #expect(flags.prefix { $0 != " " }.contains("C"))
    }

    /// Deletes 12 MiB of caches, while what is freed is used up each time before a file is unlinked.
    private func purge(_ kind: FilesystemKind, alone: Bool) throws -> PurgeReport {
        let filesystem = try filesystem(kind)
        let home = try cacheOfMebibytes(12, on: filesystem.root)
        var executor = home.executor()
        executor.futileBytes = 4 << 20
        let plan = try home.plan()
        var count = 0
        return try home.execute(plan, executor) { call in
            count += 1
            guard call == .unlinkat || (!alone && call == .syncfs) else { return }
            let size = call == .unlinkat ? "bs=64K count=16" : "bs=64K count=1"
            _ = system(
                "dd if=/dev/zero \(size) conv=fsync status=none > '\(home.root)/other\(count)'")
        }
    }

    @Test("deleting that shows nothing ends soon where something may keep the blocks, and says so")
    func futile() throws {
        let report = try purge(.xfs, alone: true)
        #expect(report.outcome.isFutile)
        #expect(!report.outcome.isReached)
        #expect(report.removed.count >= 4 && report.removed.count < 8)
        #expect((report.outcome.freedBytes ?? .max) < report.outcome.certainBytes)
    }

    @Test(
        "what other processes write meanwhile is not taken for that",
        arguments: [FilesystemKind.ext4, .xfs])
    func otherWriters(kind: FilesystemKind) throws {
        let report = try purge(kind, alone: false)
        #expect(!report.outcome.isFutile)
        #expect(report.removed.count == 12)
        #expect(report.outcome.freedBytes == report.outcome.certainBytes)
    }

    @Test(
        "a measurement that fails ends the run, which still has an outcome",
        arguments: [(2 << 20, 2), (.max, 3)] as [(Int64, Int)])
    func failedMeasurement(wanted: Int64, removed: Int) throws {
        let filesystem = try filesystem(.xfs)
        let home = try cacheOfMebibytes(3, on: filesystem.root)
        let plan = try home.plan(home.plan().units, wanting: wanted)
        // The first measurement is that at the beginning.
        let mock = SystemCallMock([.syncfs: [nil, .ioError]])
        let report = try mock.run { try home.execute(plan) }
        #expect(report.outcome.measurementError?.code == .inputOutput)
        #expect(report.outcome.failures == 1)
        #expect(report.removed.count == removed)
        // What ended the run does not keep its end from being measured.
        #expect((report.outcome.measuredBytes == nil) == (removed == 3))
        #expect(report.outcome.isReached == (removed == 2))
    }

    @Test("compressed files free less than they seem to, which is not taken for that either")
    func compressed() throws {
        let filesystem = try filesystem(.btrfs, options: ["compress-force=zstd"])
        let home = try cacheOfMebibytes(12, of: "/dev/zero", on: filesystem.root)
        var executor = home.executor()
        executor.futileBytes = 4 << 20
        let plan = try home.plan()
        #expect(plan.bytes >= 12 << 20)
        let report = try home.execute(plan, executor)
        #expect(!report.outcome.isFutile)
        #expect(report.removed.count == 12)
        #expect(report.outcome.certainBytes < 1 << 20)
    }

    @Test("what a snapshot made after the plan holds is kept")
    func snapshot() throws {
        try require(.tool("btrfs"))
        let filesystem = try filesystem(.btrfs)
        let volume = filesystem.root.appending("volume")
        try tool("btrfs", "subvolume", "create", volume)
        let home = try cacheOfMebibytes(4, on: volume)
        let plan = try home.plan()
        #expect(plan.units.count == 4)
        try tool("btrfs", "subvolume", "snapshot", "-r", volume, filesystem.root.appending("kept"))
        let report = try home.execute(plan)
        #expect(Set(report.kept.values) == [.freesNothing])
        #expect(report.removed == [])
    }

    @Test(
        "what was deleted counts, whatever others store meanwhile, and no more is deleted",
        arguments: [FilesystemKind.ext4, .xfs, .btrfs])
    func besideWriters(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind)
        let home = try cacheOfMebibytes(8, on: filesystem.root)
        let plan = try home.plan(home.plan().units, wanting: 3 << 20)
        let report = try home.execute(plan, beforeCall: writing(32 << 16, below: home.root))
        #expect(report.outcome.isReached)
        #expect(report.removed.count == 3)
        #expect(report.outcome.certainBytes == 3 << 20)
        #expect((report.outcome.measuredBytes ?? 0) < 0)
    }

    private func cacheOfMebibytes(
        _ count: Int, of source: String = "/dev/urandom", on volume: FilePath,
        beside unit: Directory? = nil
    ) throws -> PurgeFixture {
        let tree = Tree { Directory("home/.cache/app") { if let unit { unit } } }
        try tree.create(in: volume)
        let home = PurgeFixture(root: volume)
        for index in 0..<count {
            try tool(
                "dd", "if=\(source)", "bs=64K", "count=16", "status=none",
                "of=\(home(".cache/app/\(index)"))")
        }
        try tool("sync", "-f", volume)
        return home
    }

    /// Something that stores bytes in a directory before each removal.
    private func writing(_ bytes: Int, below directory: FilePath) -> (SystemCall) -> Void {
        var count = 0
        return { call in
            guard call == .unlinkat else { return }
            count += 1
            _ = system(
                "head -c \(bytes) /dev/urandom | dd conv=fsync status=none "
                    + "of='\(directory)/other\(count)'")
        }
    }
}
