import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Bringing evicted files back", .cleansUp)
struct DownloadTests {
    @Test("a file that is set-user-ID, set-group-ID or sticky is left alone")
    func specialBits() throws {
        for permissions: UInt16 in [0o4755, 0o2755, 0o1644] {
            let fixture = try evictionFixture(permissions: permissions)
            expectRefusal(.specialBits) { try fixture.evict() }
            try fixture.expectWhole(permissions: permissions)
        }
    }

    @Test("a copy with attributes is a placeholder, too; one without is nothing of the kind")
    func copied() throws {
        try require(.root)
        let fixture = try evictionFixture()
        try fixture.evict()
        let copy = fixture.root.appending("copy")
        try tool("cp", "-p", fixture.file, copy)
        let status = try copy.status()
        #expect(try EvictionSign(of: copy.withoutFollowing, status) == .unrecorded)
        #expect(try fixture.begin(copy) == nil)
        try tool("cp", "-a", fixture.file, copy)
        try fixture.expectPlaceholder(copy)
        try fixture.download(copy)
        #expect(try contentsOfFile(copy) == fixture.content)
        try fixture.expectPlaceholder()
    }

    @Test(
        "a file that is not its placeholder any more is not overwritten",
        arguments: [
            ["truncate", "-s", "+1", "FILE"],
            ["sh", "-c", #"chmod 600 "$0"; printf new | dd of="$0" conv=notrunc 2>&1"#, "FILE"],
            [
                "sh", "-c",
                #"""
                cp -p "$0" "$0.time"; chmod 600 "$0"; printf new | dd of="$0" conv=notrunc 2>&1
                touch -r "$0.time" "$0"; rm -f "$0.time"
                """#, "FILE",
            ],
        ])
    func changed(change: [String]) throws {
        let fixture = try evictionFixture()
        try fixture.evict()
        let words = change.dropFirst().map { $0 == "FILE" ? "\(fixture.file)" : $0 }
        try tool(change[0], arguments: words)
        let before = try (contentsOfFile(fixture.file), fixture.file.status())
        expectRefusal(.notPlaceholder) { try fixture.download() }
        #expect(try contentsOfFile(fixture.file) == before.0)
        let after = try fixture.file.status()
        #expect(after.permissions == before.1.permissions)
        #expect(after.contentModificationTime == before.1.contentModificationTime)
    }

    @Test("an ordinary file is not touched")
    func ordinary() throws {
        let fixture = try evictionFixture()
        #expect(try fixture.begin() == nil)
        try fixture.expectWhole()
    }

    @Test("a placeholder that was written to is an ordinary file, and can be evicted anew")
    func written() throws {
        var fixture = try evictionFixture()
        try fixture.evict()
        try tool("chmod", "600", fixture.file)
        try overwrite(fixture.file, with: fixture.content, at: 0)
        let status = try fixture.file.status()
        let record = try #require(fixture.record)
        #expect(try EvictionSign(of: fixture.file.withoutFollowing, status) == .stale(record))
        try tool("touch", "-d", "@1234567890.987654321", fixture.file)
        fixture.permissions = 0o600
        try fixture.evict()
        try fixture.download()
        try fixture.expectWhole(permissions: 0o600)
    }

    @Test("content that is not what it was leaves a placeholder, and the right one comes later")
    func damaged() throws {
        let fixture = try evictionFixture()
        try fixture.evict()
        var damaged = fixture.content
        damaged[119_999] ^= 1
        let cases = [damaged, Array(fixture.content.dropLast()), fixture.content + [0], []]
        for content in cases {
            expectRefusal(.damagedSnapshot) { try fixture.download(content: content) }
            try fixture.expectPlaceholder()
        }
        try fixture.download()
        try fixture.expectWhole()
    }

    @Test("who has a placeholder open keeps it from being filled")
    func open() throws {
        let fixture = try evictionFixture()
        try fixture.evict()
        try tool("chmod", "600", fixture.file)
        let other = OwnedDescriptor(try openFile(fixture.file, flags: .readOnly))
        expectRefusal(.inUse) { try fixture.download() }
        withExtendedLifetime(other) {}
        #expect(try fixture.file.status().allocatedSize <= 4096)
    }

    @Test("a copy full of zeros is not taken for the content, and is filled")
    func zeros() throws {
        try require(.root)
        let fixture = try evictionFixture()
        try fixture.evict()
        let copy = fixture.root.appending("copy")
        try tool("cp", "-a", "--sparse=never", fixture.file, copy)
        let status = try copy.status()
        try #require(status.permissions == 0 && status.allocatedSize > fixture.content.count)
        #expect(try fixture.state.recover(at: copy) == .partial)
        #expect(try EvictionSign(of: copy.withoutFollowing, status)?.isEvicted == true)
        expectRefusal(.damagedSnapshot) {
            let zeros = [UInt8](repeating: 0, count: fixture.content.count)
            try fixture.download(copy, content: zeros)
        }
        #expect(try copy.status().allocatedSize == status.allocatedSize)
        try fixture.download(copy)
        #expect(try contentsOfFile(copy) == fixture.content)
        #expect(try copy.status().permissions == fixture.permissions)
    }

    @Test("other data, however late in the file, keeps all of it from being written")
    func foreignData() throws {
        let fixture = try evictionFixture()
        try fixture.evict()
        try tool("chmod", "200", fixture.file)
        try overwrite(fixture.file, with: Array("mine".utf8), at: 100_000)
        let before = try fixture.file.status()
        expectRefusal(.notPlaceholder) { try fixture.download() }
        let after = try fixture.file.status()
        #expect(after.allocatedSize == before.allocatedSize)
        #expect(after.contentModificationTime == before.contentModificationTime)
        #expect(after.permissions == 0o200)
    }

    @Test("a record counts only with the owner, size, permission bits and time in the snapshot")
    func forged() throws {
        try require(.root)
        let fixture = try evictionFixture()
        try fixture.evict()
        let changes: [(inout KeptFile) -> Void] = [
            { $0.owner = 4711 }, { $0.owner = nil }, { $0.permissions = 0o600 },
            { $0.modified.seconds += 1 },
        ]
        for change in changes {
            var kept = try fixture.kept(fixture.file)
            change(&kept)
            let record = try #require(fixture.record)
            expectRefusal(.recordDisagrees) {
                _ = try Download(at: fixture.file, record, kept, fixture.state)
            }
            try fixture.expectPlaceholder()
        }
        try tool("touch", fixture.file)
        expectRefusal(.notPlaceholder) { try fixture.download() }
        try tool("chown", "4711", fixture.file)
        expectRefusal(.foreignOwner) { try fixture.download() }
        #expect(try fixture.state.recover(at: fixture.file) == .settled)
    }

    @Test("a write bit that was only lent is taken back", arguments: [0o1644, 0o1755])
    func lent(permissions: UInt16) throws {
        let fixture = try evictionFixture()
        try tool("chmod", String(permissions, radix: 8), fixture.file)
        #expect(try fixture.state.recover(at: fixture.file) == .whole)
        try fixture.expectWhole(permissions: permissions & ~lentPermissions)
    }

    @Test("a download that was cut off goes on, and compares what is there")
    func resumed() throws {
        let fixture = try evictionFixture()
        try fixture.evict()
        try cutOff(fixture)
        let status = try fixture.file.status()
        let record = try #require(fixture.record)
        #expect(try EvictionSign(of: fixture.file.withoutFollowing, status) == .unfinished(record))
        #expect(status.permissions == fillingPermissions)
        // As a kill leaves it while the file is opened.
        try tool("chmod", "1600", fixture.file)
        let opened = try EvictionSign(of: fixture.file.withoutFollowing, fixture.file.status())
        #expect(opened == .unfinished(record))
        expectRefusal(.unfinished) { try fixture.evict() }
        try tool("chmod", "200", fixture.file)
        expectRefusal(.unfinished) { try fixture.evict() }
        #expect(try fixture.state.recover(at: fixture.file) == .partial)
        try fixture.download()
        try fixture.expectWhole()
    }

    @Test("data of somebody else in a file whose download was cut off stays")
    func resumedOverOther() throws {
        try require(.root)
        let fixture = try evictionFixture()
        try fixture.evict()
        try cutOff(fixture)
        try overwrite(fixture.file, with: [UInt8](repeating: 9, count: 10), at: 100_000)
        let before = try contentsOfFile(fixture.file)
        expectRefusal(.notPlaceholder) { try fixture.download() }
        #expect(try contentsOfFile(fixture.file)[90_000...] == before[90_000...])
        #expect(try fixture.file.evictionRecord() == fixture.record)
    }

    @Test("holes of a file stay holes")
    func sparse() throws {
        let fixture = try evictionFixture()
        try tool("truncate", "-s", "0", fixture.file)
        try tool("truncate", "-s", "10M", fixture.file)
        let script = #"head -c 9000 /dev/urandom | dd of="$0" bs=1M seek=5 conv=notrunc 2>&1"#
        try tool("sh", "-c", script, fixture.file)
        let before = try fixture.file.status()
        let whole = EvictionFixture(
            root: fixture.root, state: fixture.state,
            content: try contentsOfFile(fixture.file),
            modified: before.contentModificationTime)
        let data = try whole.state.evictableFile(at: whole.file).measure { false }
        #expect(data?.dataBytes == before.allocatedSize)
        try whole.evict()
        try whole.download()
        let after = try fixture.file.status()
        #expect(try contentsOfFile(fixture.file) == whole.content)
        #expect(after.allocatedSize <= before.allocatedSize + 4096)
        #expect(after.contentModificationTime == before.contentModificationTime)
    }

    @Test(
        "who waits for a file that is being filled gets all of it; what was written after that stays"
    )
    func stalled() throws {
        try require(.root)
        // One after the other: the kernel has one time for all leases.
        let fixture = try evictionFixture()
        try fixture.evict()
        do {
            let download = try #require(try fixture.begin())
            try fixture.feed(fixture.content[..<40_001], to: download)
            // Waits for the lease without O_NONBLOCK.
            #expect(throws: Errno.resourceTemporarilyUnavailable) {
                try openFile(fixture.file, flags: [.writeOnly, .nonBlocking])
            }
            try fixture.feed(fixture.content[40_001...], to: download)
            #expect(try !download.endPass())
        }
        try fixture.expectWhole()
        let time = try tool("cat", "/proc/sys/fs/lease-break-time")
        let setTime = "echo \"$0\" > /proc/sys/fs/lease-break-time"
        try tool("sh", "-c", setTime, "1")
        defer { mustWork { try tool("sh", "-c", setTime, time) } }
        for received in [40_001, 120_001] {
            let fixture = try evictionFixture()
            try fixture.evict()
            let download = try #require(try fixture.begin())
            try fixture.feed(fixture.content[..<received], to: download)
            // Waits until the kernel breaks the lease.
            let script = #"printf mine | dd of="$0" bs=1 seek=100000 conv=notrunc 2>&1"#
            try tool("sh", "-c", script, fixture.file)
            let before = try (contentsOfFile(fixture.file), fixture.file.status())
            expectRefusal(.inUse) {
                try fixture.feed(fixture.content[received...], to: download)
                _ = try download.endPass()
            }
            try download.abandon(because: .inUse)
            let after = try fixture.file.status()
            #expect(try contentsOfFile(fixture.file) == before.0)
            #expect(before.0[100_000..<100_004].elementsEqual("mine".utf8))
            #expect(after.contentModificationTime == before.1.contentModificationTime)
            #expect(after.permissions == fillingPermissions)
        }
    }

    /// Begins a download and drops it in the middle, as a kill does.
    private func cutOff(_ fixture: EvictionFixture) throws {
        let download = try #require(try fixture.begin())
        try fixture.feed(fixture.content[..<80_001], to: download)
    }
}
