import BackupPlanning
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("A snapshot is judged by two walks and the items that restic names", .cleansUp)
struct SnapshotCheckTests {
    private typealias Entry = PlanManifest.Entry

    private func entry(
        _ path: FileName, inode: UInt32, state: UInt32 = 1, device: UInt32 = 1,
        _ kind: FileKind = .regularFile
    ) -> Entry {
        Entry(path: path.bytes, identity: inode, state: state, device: device, kind: kind)
    }

    /// What restic named of a plan of `/s` with these items.
    private func named(
        _ items: [(FileName, UInt32)], directories: Set<FileName> = [], _ names: [FileName]
    ) -> NamedItems {
        var manifest = PlanManifest()
        for (path, inode) in items {
            let kind: FileKind = directories.contains(path) ? .directory : .regularFile
            manifest.append(path.bytes, entry(path, inode: inode, kind))
        }
        manifest.finish()
        var named = NamedItems(sources: ["/s"], exclusions: [], manifest)
        for name in names { named.receive(name.bytes) }
        return named
    }

    @Test("what both walks saw and restic did not name is missing")
    func missing() {
        let check = SnapshotCheck(named([("/s/a", 1), ("/s/b", 2), ("/s/c", 3)], ["/s/a"]))
        var seen = SeenItems()
        func verdict(_ path: String, _ entry: Entry) -> SnapshotCheck.Verdict {
            check.verdict(on: Array(path.utf8), entry, noting: &seen)
        }
        #expect(verdict("/s/a", entry("/s/a", inode: 1)) == .stored)
        #expect(verdict("/s/b", entry("/s/b", inode: 2)) == .missing)
        // Of another kind it may be stored.
        #expect(verdict("/s/c", entry("/s/c", inode: 4, .symbolicLink)) == .changed)
        #expect(verdict("/s/new", entry("/s/new", inode: 5)) == .unknown)
        #expect(check.vanished(seen)[0]?.vanished == 0)
    }

    @Test("what was moved and named under neither name is missing, and has not vanished")
    func moved() {
        let items: [(FileName, UInt32)] = [("/s/a", 1), ("/s/b", 2), ("/s/c", 3), ("/s/d", 4)]
        let check = SnapshotCheck(named(items, ["/s/b", "/s/new c"]))
        var seen = SeenItems()
        for (path, inode, verdict) in [
            ("/s/new a", 1, SnapshotCheck.Verdict.missing), ("/s/new b", 2, .unknown),
            ("/s/new c", 3, .unknown),
        ] as [(FileName, UInt32, SnapshotCheck.Verdict)] {
            let found = check.verdict(on: path.bytes, entry(path, inode: inode), noting: &seen)
            #expect(found == verdict, "\(path)")
        }
        // Only d is nowhere.
        let count = check.vanished(seen)[0]
        #expect(count?.items == 4 && count?.vanished == 1)
    }

    @Test("another state is a change; another directory is one only with another inode or device")
    func changed() {
        let check = SnapshotCheck(
            named([("/s/f", 1), ("/s/d", 2)], directories: ["/s/d"], ["/s/f", "/s/d/"]))
        var seen = SeenItems()
        func verdict(_ path: String, _ entry: Entry) -> SnapshotCheck.Verdict {
            check.verdict(on: Array(path.utf8), entry, noting: &seen)
        }
        #expect(verdict("/s/f", entry("/s/f", inode: 1, state: 2)) == .changed)
        #expect(verdict("/s/f", entry("/s/f", inode: 9, .directory)) == .changed)
        #expect(verdict("/s/d", entry("/s/d", inode: 2, .directory)) == .stored)
        #expect(
            verdict("/s/d", entry("/s/d", inode: 3, state: 2, .directory))
                == .replaced(isOnSameDevice: true))
        #expect(
            verdict("/s/d", entry("/s/d", inode: 2, state: 2, device: 2, .directory))
                == .replaced(isOnSameDevice: false))
    }

    @Test("of names that print alike none counts until all were named")
    func printedAlike() {
        let one = FileName(Array("/s/b".utf8) + [0xFE])
        let other = FileName(Array("/s/b".utf8) + [0xFF])
        let printed = printedName(one.bytes)
        for (count, verdict) in [(1, SnapshotCheck.Verdict.missing), (2, .stored), (3, .stored)] {
            let named = named(
                [(one, 1), (other, 2)], Array(repeating: FileName(printed), count: count))
            let check = SnapshotCheck(named)
            var seen = SeenItems()
            #expect(check.verdict(on: one.bytes, entry(one, inode: 1), noting: &seen) == verdict)
            #expect(
                check.verdict(on: other.bytes, entry(other, inode: 2), noting: &seen) == verdict)
            #expect(named.contains(printed: printed) == (verdict == .stored))
            #expect(named.count == count)
        }
    }

    @Test("what is named although it is excluded is a lost exclusion, but no directory by itself")
    func lostExclusions() throws {
        let root = try temporaryDirectory {
            Directory("d") { File("inner") }.excluded()
            File(FileName([0x66, 0xFF])).excluded()
            File("kept")
        }
        var planner = BackupPlanner(policy: StoragePolicy(), mounts: try MountTable.current())
        planner.makesManifest = true
        let plan = try planner.makePlan(for: [root])
        var named = NamedItems(
            sources: plan.sources, exclusions: plan.exclusions,
            try #require(plan.manifest))
        let above = root.removingLastComponent().bytes + Array("/".utf8)
        for name in [
            Array("/".utf8), above, root.bytes + Array("/".utf8),
            root.appending("d").bytes + Array("/".utf8), root.appending("kept").bytes,
            root.appending("new").bytes, Array("/var/record".utf8),
        ] { named.receive(name) }
        #expect(named.lostExclusions.isEmpty)
        #expect(named.count == 4)
        let lost = [root.pushing("d/inner").bytes, root.bytes + Array("/f".utf8) + [0xFF]]
        for name in lost { named.receive(name) }
        #expect(named.lostExclusions == lost)
    }
}
