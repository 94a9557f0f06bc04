import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Filesystems where things may be deleted", .cleansUp)
struct PurgeFilesystemTests {
    private let tree = Tree {
        File("Documents/deep/file", block).purgeable()
        File(".cache/app/unit/file", block)
    }

    private func home(on kind: FilesystemKind) throws -> HomeFixture {
        let root = try filesystem(kind) { Directory("home") { tree } }.root
        return HomeFixture(home: root.appending("home"))
    }

    @Test(
        "are those known to tell what deleting frees",
        arguments: [FilesystemKind.ext4, .xfs, .btrfs])
    func known(_ kind: FilesystemKind) throws {
        try #expect(home(on: kind).found().units == [".cache/app/unit"])
    }

    @Test("are none in memory, and none of layers", arguments: [FilesystemKind.tmpfs, .overlayfs])
    func unknown(_ kind: FilesystemKind) throws {
        let home = try home(on: kind)
        let error = #expect(throws: FileError.self) { try home.found() }
        #expect(error?.code == .unsupportedFilesystem)
        #expect(error?.message.contains(kind == .tmpfs ? "tmpfs" : "overlay") == true)
    }

    @Test("do not make deletable what another mount shows elsewhere")
    func bindMounts() throws {
        let home = try home(on: .ext4)
        let places = ["Documents": ".cache/whole", "Documents/deep": ".cache/part"]
        for (source, place) in places {
            try tool("mkdir", home(place))
            try tool("mount", "--bind", home(source), home(place))
            try afterwards { try tool("umount", home(place)) }
        }
        let all = try home.found()
        #expect(all.units == [".cache/app/unit"])
        for place in places.values {
            #expect(all.kept[place]?.name == "mount-point")
            let inside = try home.found { $0.roots = [home(place)] }
            #expect(inside.units == [] && inside.kept == [place: .protectedRoot])
        }
    }

    @Test(
        "where a directory was changed in the future keep what it is in: later changes do not show")
    func future() throws {
        try require(.tool("debugfs"))
        let filesystem = try remountedFilesystem(.ext4)
        try Tree {
            Directory("home") {
                for name in ["late", "fine"] {
                    Directory("\(name)") { File("deep/file", block) }.purgeable()
                }
            }
        }.create(in: filesystem.root)
        try filesystem.change("set_inode_field /home/late/deep ctime @2051222400")
        let home = HomeFixture(home: filesystem.root.appending("home"))
        let found = try home.found(now: .now)
        #expect(found.units == ["fine"])
        #expect(found.kept["late"] == .fromTheFuture)
    }

    @Test("with snapshots keep the documents in them")
    func snapshots() throws {
        try require(.tool("btrfs"))
        let volume = try filesystem(.btrfs).root.appending("volume")
        try tool("btrfs", "subvolume", "create", volume)
        try Tree { Directory("home") { tree } }.create(in: volume)
        let home = HomeFixture(home: volume.appending("home"))
        let snapshot = home(".cache/snapshot")
        try tool("btrfs", "subvolume", "snapshot", volume, snapshot)
        let all = try home.found()
        // What a snapshot holds is not freed by deleting it elsewhere.
        #expect(all.units == [])
        #expect(all.kept[".cache/app/unit"] == .freesNothing)
        #expect(all.kept[".cache/snapshot"] == .mountPoint)
        let inside = try home.found(on: snapshot) { $0.roots = [snapshot] }
        #expect(inside.units == [])
        #expect(inside.kept[".cache/snapshot/home"] == .protectedRoot)
        let documents = home(".cache/snapshot/home/Documents/deep")
        try #expect(home.found(on: snapshot) { $0.roots = [documents] }.units == [])
    }

    @Test(
        "with shared extents count only what is not shared",
        arguments: [FilesystemKind.xfs, .btrfs])
    func sharedExtents(_ kind: FilesystemKind) throws {
        let home = try home(on: kind)
        let app = home(".cache/app")
        let document = home("Documents/document")
        try write(mebibyteTo: document)
        try write(mebibyteTo: app.appending("alone"))
        for name in ["clone", "part"] {
            try tool("cp", "--reflink=always", document, app.appending(name))
        }
        try write(mebibyteTo: app.appending("part"))
        try tool("sync", "-f", home.home)
        let result = try home.found()
        #expect(result.kept[".cache/app/clone"] == .freesNothing)
        #expect(try app.appending("part").status().allocatedSize == 2 << 20)
        for name in ["part", "alone"] {
            #expect(bytes(of: app.appending(name), in: result.2) == 1 << 20)
        }
    }

    @Test(
        "with extents that files of a directory share with each other may free more by it, as the last",
        arguments: [FilesystemKind.xfs, .btrfs])
    func sharedWithin(_ kind: FilesystemKind) throws {
        let home = try home(on: kind)
        let (within, outside) = (home(".cache/app/a"), home(".cache/app/b"))
        let document = home("Documents/document")
        try write(mebibyteTo: document)
        try tool("mkdir", within, outside)
        try tool("cp", "--reflink=always", document, outside.appending("clone"))
        // A file that two names in the unit share is no clone.
        try tool("ln", outside.appending("clone"), outside.appending("linked"))
        try write(mebibyteTo: within.appending("file"))
        try tool("cp", "--reflink=always", within.appending("file"), within.appending("clone"))
        try tool("sync", "-f", home.home)
        let result = try home.found()
        #expect(result.units == [".cache/app/unit", ".cache/app/a"])
        #expect(try #require(bytes(of: within, in: result.2)) < 1 << 20)
        #expect(result.kept[".cache/app/b"] == .freesNothing)
    }

    private func bytes(of path: FilePath, in found: FoundUnits) -> Int64? {
        found.units.first { $0.path == path.bytes }?.bytes
    }

    private func write(mebibyteTo path: FilePath) throws {
        try tool(
            "dd", "if=/dev/urandom", "of=\(path)", "bs=1M", "count=1", "status=none",
            "oflag=append", "conv=notrunc,fsync")
    }
}
