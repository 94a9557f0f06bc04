import EffectiveValues
import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What a purge that died left on a filesystem that is mounted anew", .cleansUp)
struct RemountTests {
    @Test(
        "is removed or gets its name back, though the device has another number",
        arguments: [FilesystemKind.ext4, .xfs, .btrfs])
    func remounted(kind: FilesystemKind) throws {
        let filesystem = try remountedFilesystem(kind)
        var states: Set<LeftoverState> = []
        var call = 0
        while states.count < 2 {
            call += 1
            let top = filesystem.root.appending("top\(call)")
            try makeHome(crashTree, at: top)
            let result = try Command(
                .built("test-tool"), "purge", top.appending("home"), top.appending("state"),
                "\(call)"
            ).run()
            try #require(result.end == .signal(SIGKILL), "\(result)")
            let app = top.appending("home/.cache/app")
            guard try hasAside(app) else { continue }
            try filesystem.remount()
            var report = PurgeReport()
            try PurgeFixture(root: top).executor().finishLeftovers { report.add($0) }
            // What was put aside together is in the same state.
            let found = Set(report.leftovers.values)
            #expect(found == [.restored] || found == [.finished], "call \(call)")
            states.formUnion(found)
            #expect(try !hasAside(app), "call \(call)")
        }
    }

    @Test("is each unit whole, or none of it, when the power fails before any call")
    func powerFailure() throws {
        let filesystem = try remountedFilesystem(.ext4)
        var (call, died) = (0, true)
        while died {
            call += 1
            // Only what is synchronized reaches the device.
            try tool("mount", "-o", "remount,commit=600", filesystem.root)
            let top = filesystem.root.appending("top\(call)")
            try makeHome(crashTree, at: top)
            try tool("sync", "-f", top)
            let result = try Command(
                .built("test-tool"), "purge", top.appending("home"), top.appending("state"),
                "\(call)"
            ).run()
            died = result.end == .signal(SIGKILL)
            #expect(died || result.exitCode == 0, "\(result)")
            try filesystem.losePower()
            try expectRecovery(PurgeFixture(root: top), "call \(call)")
        }
        #expect(call > 30)
    }

    @Test("is not what another filesystem has at the same path, with the same numbers")
    func replaced() throws {
        let filesystem = try remountedFilesystem(.ext4)
        let state = try temporaryDirectory()
        let aside = AsideName.make()
        func make(_ name: FileName) throws -> (FileStatus, FileStatus) {
            let tree = Tree { Directory(".cache/app") { Directory(name) { File("file", block) } } }
            try makeHome(tree, at: filesystem.root.appending("top"))
            let app = filesystem.root.appending("top/home/.cache/app")
            return (try app.status(), try app.appending(name).status())
        }
        let (parent, unit) = try make("unit")
        let app = filesystem.root.appending("top/home/.cache/app")
        let filesystems = MountedFilesystems()
        func record(_ identify: (FileStatus) -> PersistentIdentity) -> AsideRecord {
            AsideRecord(
                state: .deleting, identity: identify(unit), parent: identify(parent),
                parentPath: app.bytes, name: Array("unit".utf8), asideName: aside,
                newestChange: .later, knownInodes: [unit.identity.inode])
        }
        let known = record { filesystems.identity(of: $0) }
        let knownByNumbers = record { PersistentIdentity($0.identity) }
        try PurgeJournal(in: state).store([known])
        try filesystem.replace()
        let (newParent, newUnit) = try make(FileName(aside))
        try #require(newParent.identity == parent.identity)
        try #require(newUnit.identity == unit.identity)

        var executor = PurgeFixture(root: filesystem.root.appending("top")).executor()
        executor.stateDirectory = state
        var report = PurgeReport()
        try executor.finishLeftovers { report.add($0) }
        #expect(report.leftovers.map(\.value) == [.leftAlone(.unreachable)])
        #expect(app.appending(FileName(aside)).appending("file").exists)
        // The numbers alone cannot tell them apart.
        let journal = try PurgeJournal(in: state)
        try journal.store([knownByNumbers])
        #expect(journal.filesystems.isIdentity(knownByNumbers.identity, of: newUnit))
    }

    @Test("is told from other files by filesystem, inode and time of birth, each of them")
    func identity() throws {
        let root = try temporaryDirectory { File("file") }
        let status = try root.appending("file").status()
        let filesystems = MountedFilesystems()
        let known = filesystems.identity(of: status)
        #expect(filesystems.isIdentity(known, of: status))
        #expect(known.creationTime == status.creationTime && known.creationTime != nil)
        guard case .named = known.filesystem else {
            Issue.record("the filesystem has no name: \(known)")
            return
        }
        let other = FileTime(seconds: 1, nanoseconds: 2)
        for wrong in [
            PersistentIdentity(
                filesystem: .named([1]), inode: known.inode, creationTime: known.creationTime),
            PersistentIdentity(
                filesystem: known.filesystem, inode: known.inode + 1,
                creationTime: known.creationTime),
            PersistentIdentity(
                filesystem: known.filesystem, inode: known.inode, creationTime: other),
            PersistentIdentity(
                filesystem: .device(status.identity.device + 1), inode: known.inode,
                creationTime: known.creationTime),
        ] {
            #expect(!filesystems.isIdentity(wrong, of: status))
        }
    }

    private func makeHome(_ tree: Tree, at top: FilePath) throws {
        try tool("mkdir", top)
        try Tree {
            Directory("home")
            Directory("state")
        }.create(in: top)
        try tree.create(in: top.appending("home"))
    }

    private func hasAside(_ directory: FilePath) throws -> Bool {
        var found = false
        try forEachName(in: directory) { name in
            found = AsideName.matches(name)
            return !found
        }
        return found
    }
}
