import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

private let kinds: [FilesystemKind] = [.ext4, .ext4SmallBlocks, .xfs, .btrfs, .tmpfs]

@Suite("Evicting on each filesystem", .cleansUp)
struct FilesystemTests {
    @Test("an evicted file takes no blocks, and comes back as it was", arguments: kinds)
    func roundTrip(kind: FilesystemKind) throws {
        try require(.root)
        let volume = try filesystem(kind)
        for permissions: UInt16 in [0o640, 0o444] {
            let fixture = try evictionFixture(in: volume.root, permissions: permissions)
            try fixture.file.setValue(true, for: .isPurgeable)
            let before = try fixture.file.status()
            let left = try fixture.evict()
            try fixture.expectPlaceholder()
            let placeholder = try fixture.file.status()
            #expect(placeholder.identity == before.identity)
            #expect(placeholder.allocatedSize == left)
            #expect(left <= 4096)
            #expect(
                try contentsOfFile(fixture.file)
                    == [UInt8](repeating: 0, count: fixture.content.count))
            try fixture.download()
            try fixture.expectWhole(permissions: permissions)
            #expect(try fixture.file.status().identity == before.identity)
            #expect(try fixture.file.value(for: .isPurgeable) == true)
            try tool("rm", fixture.file)
        }
    }

    @Test("files of a few bytes, some of them kept in the inode", arguments: kinds)
    func small(kind: FilesystemKind) throws {
        try require(.root)
        let volume = try filesystem(kind)
        for size in [1, 50, 2000, 4096, 4097] {
            let content = [UInt8](repeating: 7, count: size)
            try Tree {
                File("file", content).permissions(0o640).modified(EvictionFixture.modified)
            }.create(in: volume.root)
            try tool("sync", volume.root.appending("file"))
            let base = try temporaryDirectory()
            let fixture = EvictionFixture(
                root: volume.root, state: EvictionDirectory(stateHome: base),
                content: content)
            do {
                _ = try fixture.state.evictableFile(at: fixture.file)
            } catch let error as EvictionError where error == .nothingToFree {
                #expect(size <= 4096)
                try tool("rm", fixture.file)
                continue
            }
            try fixture.evict()
            try fixture.expectPlaceholder()
            try fixture.download()
            try fixture.expectWhole()
            try tool("rm", volume.root.appending("file"))
        }
    }

    @Test(
        "with no room for its content a file stays a placeholder, and comes later", arguments: kinds
    )
    func diskFull(kind: FilesystemKind) throws {
        try require(.root)
        let volume = try filesystem(kind)
        let fixture = try evictionFixture(in: volume.root)
        try fixture.evict()
        let filler = volume.root.appending("filler")
        _ = try Command("/bin/dd", "if=/dev/zero", "of=\(filler)", "bs=64K", "status=none").run()
        #expect {
            try fixture.download()
        } throws: { error in
            EvictionError(error, at: fixture.file).name == "no-space"
        }
        try fixture.expectPlaceholder()
        try tool("rm", filler)
        try tool("sync", "-f", volume.root)
        try fixture.download()
        try fixture.expectWhole()
    }

    @Test("on a full disk, with the locks on it, a file is evicted, also when that is killed")
    func evictOnFullDisk() throws {
        try require(.root)
        let volume = try filesystem(.ext4)
        let held = try heldFixture(in: volume.root)
        let state = EvictionDirectory(path: volume.root.appending("state"))
        let fixture = EvictionFixture(root: held.root, state: state, content: held.content)
        let runtime = try temporaryDirectory()
        var call = 0
        while true {
            call += 7
            let filler = volume.root.appending("filler")
            _ = try Command("/bin/dd", "if=/dev/zero", "of=\(filler)", "bs=4K", "status=none").run()
            var dying = command("evict", fixture, dyingAt: call)
            dying.environment["XDG_RUNTIME_DIR"] = "\(runtime)"
            let result = try dying.run()
            try tool("rm", filler)
            try tool("sync", "-f", volume.root)
            if result.end == .exit(0) { break }
            #expect(result.end == .signal(9), "\(result)")
            try checkAndRepair(fixture, "call \(call)")
            try tool("rm", "-rf", state.path)
        }
        try fixture.expectPlaceholder()
        try fixture.download()
        try fixture.expectWhole()
    }

    @Test("a sparse file of more than the disk has comes back, since only its data needs room")
    func sparse() throws {
        try require(.root)
        let volume = try filesystem(.ext4)
        let file = volume.root.appending("file")
        try tool("truncate", "-s", "64M", file)
        let script = #"head -c 9000 /dev/urandom | dd of="$0" bs=1M seek=5 conv=notrunc 2>&1"#
        try tool("sh", "-c", script, file)
        try tool("sync", file)
        let status = try file.status()
        let base = try temporaryDirectory()
        let fixture = EvictionFixture(
            root: volume.root, state: EvictionDirectory(stateHome: base),
            content: try contentsOfFile(file), permissions: status.permissions,
            modified: status.contentModificationTime)
        let measured = try fixture.state.evictableFile(at: file).measure { false }
        let data = try #require(measured?.dataBytes)
        try fixture.evict()
        #expect {
            _ = try fixture.begin()
        } throws: { error in
            (error as? EvictionError)?.name == "no-space"
        }
        do {
            // While it lives nobody else has the file open.
            let download = try #require(try fixture.begin(dataBytes: data))
            try fixture.feed(fixture.content, to: download)
            try #expect(!download.endPass())
        }
        #expect(try contentsOfFile(file) == fixture.content)
        #expect(try file.status().allocatedSize <= status.allocatedSize + 4096)
    }

    @Test("the disk that fills up in the middle of a download gives a placeholder again")
    func fillsUp() throws {
        let fixture = try evictionFixture()
        try fixture.evict()
        let mock = SystemCallMock([.pwrite: [nil, nil, .noSpace]])
        expectRefusal(.noSpace(missing: nil)) { try mock.run { try fixture.download() } }
        try fixture.expectPlaceholder()
        try fixture.download()
        try fixture.expectWhole()
    }

    @Test(
        "blocks shared with another file are not punched", arguments: [FilesystemKind.xfs, .btrfs])
    func shared(kind: FilesystemKind) throws {
        try require(.root)
        let volume = try filesystem(kind)
        let fixture = try evictionFixture(in: volume.root)
        let copy = volume.root.appending("copy")
        try tool("cp", "--reflink=always", fixture.file, copy)
        try tool("sync", "-f", volume.root)
        expectRefusal(.sharedBlocks) { try fixture.evict() }
        try fixture.expectWhole()
    }

    @Test("a swap file is left alone")
    func swapFile() throws {
        try require(.root, .tool("mkswap"), .tool("swapon"))
        let volume = try filesystem(.ext4)
        let file = volume.root.appending("file")
        try tool("dd", "if=/dev/zero", "of=\(file)", "bs=1M", "count=4", "status=none")
        try tool("chmod", "600", file)
        try tool("mkswap", file)
        try tool("swapon", file)
        defer { mustWork { try tool("swapoff", file) } }
        let base = try temporaryDirectory()
        let content = try contentsOfFile(file)
        let fixture = EvictionFixture(
            root: volume.root, state: EvictionDirectory(stateHome: base), content: content)
        expectRefusal(.inUse) { try fixture.evict() }
        #expect(try file.evictionRecord() == nil)
        #expect(try file.status().permissions == 0o600)
    }

    @Test("a placeholder that came to a filesystem with coarser times is one, and is filled")
    func coarserTimes() throws {
        try require(.root)
        let volume = try filesystem(.ext4SmallInodes)
        let fixture = try evictionFixture()
        try fixture.evict()
        let copy = volume.root.appending("copy")
        try tool("cp", "-a", fixture.file, copy)
        let time = try copy.status().contentModificationTime
        try #require(time == FileTime(seconds: fixture.modified.seconds, nanoseconds: 0))
        let sign = try EvictionSign(of: copy.withoutFollowing, copy.status())
        #expect(try sign == .placeholder(#require(fixture.record)))
        expectRefusal(.damagedSnapshot) { try fixture.download(copy, content: []) }
        #expect(try copy.status().permissions == 0)
        try fixture.download(copy)
        #expect(try contentsOfFile(copy) == fixture.content)
        #expect(try copy.status().permissions == fixture.permissions)
    }

    @Test("immutable and append-only files are left alone", arguments: ["+i", "+a"])
    func sealed(flag: String) throws {
        try require(.root, .tool("chattr"))
        let volume = try filesystem(.ext4)
        let fixture = try evictionFixture(in: volume.root)
        try tool("chattr", flag, fixture.file)
        #expect {
            try fixture.evict()
        } throws: { error in
            (error as? EvictionError)?.name == "sealed"
        }
        try fixture.expectWhole()
        try tool("chattr", "-i", "-a", fixture.file)
    }

    @Test(
        "placeholders are recognised under another device number and another name, and brought back"
    )
    func remounted() throws {
        let filesystem = try remountedFilesystem(.ext4)
        let fixture = try evictionFixture(in: filesystem.root)
        try fixture.evict()
        try tool("mv", fixture.file, filesystem.root.appending("moved"))
        try filesystem.remount()
        let moved = filesystem.root.appending("moved")
        try fixture.expectPlaceholder(moved)
        try fixture.download(moved)
        try tool("mv", moved, fixture.file)
        try fixture.expectWhole()
    }
}
