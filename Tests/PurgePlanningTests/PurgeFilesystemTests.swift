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
    private let home = Tree {
        File("home/Documents/deep/file", block).purgeable()
        File("home/.cache/app/unit/file", block)
    }

    private struct Found {
        let units: [FilePath]
        let bytes: [FilePath: Int64]
        let kept: [FilePath: KeepReason]
    }

    private func found(
        _ home: FilePath, roots: [FilePath], on volume: FilePath? = nil
    ) throws -> Found {
        var search = HomeFixture(home: home).search()
        search.roots = roots
        let kept = Monitor<[FilePath: KeepReason]>([:])
        let units = try search.units(freeing: .max, on: volume ?? home, now: .later) { path, why in
            kept.withLock { $0[FilePath(bytes: path)] = why }
        }
        let found = units.units.map { (FilePath(bytes: $0.path), $0.bytes) }
        return Found(
            units: found.map(\.0), bytes: Dictionary(uniqueKeysWithValues: found),
            kept: kept.withLock { $0 })
    }

    @Test(
        "are those known to tell what deleting frees",
        arguments: [FilesystemKind.ext4, .xfs, .btrfs])
    func known(_ kind: FilesystemKind) throws {
        try require(.root, .filesystem(kind))
        let root = try filesystem(kind).root
        try home.create(in: root)
        let home = root.appending("home")
        #expect(try found(home, roots: [home]).units == [home.appending(".cache/app/unit")])
    }

    @Test("are none in memory, and none of layers", arguments: [FilesystemKind.tmpfs, .overlayfs])
    func unknown(_ kind: FilesystemKind) throws {
        try require(.root, .filesystem(kind))
        let root = try filesystem(kind).root
        try home.create(in: root)
        let home = root.appending("home")
        let error = #expect(throws: FileError.self) { try found(home, roots: [home]) }
        #expect(error?.code == .unsupportedFilesystem)
        #expect(error?.message.contains(kind == .tmpfs ? "tmpfs" : "overlay") == true)
    }

    @Test("do not make deletable what another mount shows elsewhere")
    func bindMounts() throws {
        try require(.root, .filesystem(.ext4))
        let root = try filesystem(.ext4).root
        try home.create(in: root)
        let home = root.appending("home")
        let places = ["Documents": "whole", "Documents/deep": "part"]
        let cache = home.appending(".cache")
        for (source, name) in places {
            try tool("mkdir", cache.appending(name))
            try tool("mount", "--bind", home.appending(source), cache.appending(name))
        }
        defer {
            // A mount left behind makes the filesystem's own unmounting fail, which is told.
            for name in places.values { _ = try? tool("umount", cache.appending(name)) }
        }
        let all = try found(home, roots: [home])
        #expect(all.units == [cache.appending("app/unit")])
        #expect(all.kept[cache.appending("whole")]?.name == "mount-point")
        #expect(all.kept[cache.appending("part")]?.name == "mount-point")
        for name in places.values {
            let root = cache.appending(name)
            let inside = try found(home, roots: [root])
            #expect(inside.units == [] && inside.kept == [root: .protectedRoot])
        }
    }

    @Test("with snapshots keep the documents in them")
    func snapshots() throws {
        try require(.root, .tool("btrfs"), .filesystem(.btrfs))
        let root = try filesystem(.btrfs).root
        let volume = root.appending("volume")
        try tool("btrfs", "subvolume", "create", volume)
        try home.create(in: volume)
        let home = volume.appending("home")
        let snapshot = home.appending(".cache").appending("snapshot")
        try tool("btrfs", "subvolume", "snapshot", volume, snapshot)
        let all = try found(home, roots: [home])
        // What a snapshot holds is not freed by deleting it elsewhere.
        #expect(all.units == [])
        #expect(all.kept[home.appending(".cache/app/unit")] == .freesNothing)
        #expect(all.kept[snapshot] == .mountPoint)
        let inside = try found(home, roots: [snapshot], on: snapshot)
        #expect(inside.units == [])
        #expect(inside.kept[snapshot.appending("home")] == .protectedRoot)
        let documents = snapshot.appending("home/Documents/deep")
        #expect(try found(home, roots: [documents], on: snapshot).units == [])
    }

    @Test(
        "with shared extents count only what is not shared",
        arguments: [FilesystemKind.xfs, .btrfs])
    func sharedExtents(_ kind: FilesystemKind) throws {
        try require(.root, .filesystem(kind))
        let root = try filesystem(kind).root
        try home.create(in: root)
        let home = root.appending("home")
        let app = home.appending(".cache/app")
        let document = home.appending("Documents/document")
        try write(mebibyteTo: document)
        try write(mebibyteTo: app.appending("alone"))
        for name in ["clone", "part"] {
            try tool("cp", "--reflink=always", document, app.appending(name))
        }
        try write(mebibyteTo: app.appending("part"))
        try tool("sync", "-f", home)
        let result = try found(home, roots: [home])
        #expect(result.kept[app.appending("clone")] == .freesNothing)
        #expect(try app.appending("part").status().allocatedSize == 2 << 20)
        #expect(result.bytes[app.appending("part")] == 1 << 20)
        #expect(result.bytes[app.appending("alone")] == 1 << 20)
    }

    @Test(
        "with extents that files of a directory share with each other may free more by it, as the last",
        arguments: [FilesystemKind.xfs, .btrfs])
    func sharedWithin(_ kind: FilesystemKind) throws {
        try require(.root, .filesystem(kind))
        let root = try filesystem(kind).root
        try home.create(in: root)
        let home = root.appending("home")
        let app = home.appending(".cache/app")
        let (within, outside) = (app.appending("a"), app.appending("b"))
        let document = home.appending("Documents/document")
        try write(mebibyteTo: document)
        try tool("mkdir", within, outside)
        try tool("cp", "--reflink=always", document, outside.appending("clone"))
        // A file that two names in the unit share is no clone.
        try tool("ln", outside.appending("clone"), outside.appending("linked"))
        try write(mebibyteTo: within.appending("file"))
        try tool("cp", "--reflink=always", within.appending("file"), within.appending("clone"))
        try tool("sync", "-f", home)
        let result = try found(home, roots: [home])
        #expect(result.units == [app.appending("unit"), within])
        #expect(try #require(result.bytes[within]) < 1 << 20)
        #expect(result.kept[outside] == .freesNothing)
    }

    private func write(mebibyteTo path: FilePath) throws {
        try tool(
            "dd", "if=/dev/urandom", "of=\(path)", "bs=1M", "count=1", "status=none",
            "oflag=append", "conv=notrunc,fsync")
    }
}
