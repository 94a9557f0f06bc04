import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("What a snapshot brings back")
struct RoundTripTests {
    private static let moment = FileTime(seconds: 1_234_567_890, nanoseconds: 123_456_789)

    private static let tree = Tree {
        File("plain", "text").permissions(0o640).modified(moment)
        File("read-only", "text").permissions(0o444).attribute("user.note", "kept")
        File("program", "text").permissions(0o755)
        File("empty")
        HardLink("second name", to: "plain")
        SymbolicLink("link", to: "plain")
        SymbolicLink("dangling", to: "nowhere\n")
        Fifo("fifo").permissions(0o600)
        File("marked false", "text").excluded(false)
        File("malformed", "text").attribute("user.resval.isExcludedFromBackup", "yes")
        File("binary attribute").attribute("user.binary", [0, 0xFF, 0x0A])
        File("empty attribute").attribute("user.empty", "")
        File("excluded", "text").excluded()
        Directory("sticky") { File("inside", "text").purgeable() }.permissions(0o1777)
        Directory("read-only directory") { File("inside", "text") }
            .permissions(0o555).attribute("user.note", "kept").modified(moment)
        Directory("excluded directory") {
            File("inside", "text")
            Directory("deeper") { File("inside", "text") }
        }.excluded().permissions(0o750).attribute("user.note", "kept").modified(moment)
    }

    @Test("content, links, times, permissions and attributes; an excluded directory stays, empty")
    func everything() throws {
        try withBackup(of: Self.tree) { backup in
            let created = try backup.create()
            #expect(created.errorText.contains("malformed: warning: "))
            try backup.restore()
            var expected = try TreeListing(of: backup.source)
            expected.remove { path in
                path == Array("/excluded".utf8)
                    || path.starts(with: "/excluded directory/".utf8)
            }
            let restored = try TreeListing(of: backup.restored(backup.source))
            #expect(restored.differences(from: expected) == [])
            #expect(!restored.text(at: Array("/excluded directory".utf8)).isEmpty)
        }
    }

    @Test("holes come back, in writable files and in read-only ones")
    func sparseFiles() throws {
        let tree = Tree {
            SparseFile("hole", hole: 8 << 20, data: "behind").modified(Self.moment)
            SparseFile("only a hole", hole: 5_000_001)
            SparseFile("read-only", hole: 1 << 20, data: "behind").permissions(0o444)
                .owned(by: 54321)
            SparseFile("set-ID", hole: 1 << 20, data: "behind").permissions(0o4755)
                .owned(by: 54321)
            File("zeros", [UInt8](repeating: 0, count: 100_000))
            File("full", [UInt8](repeating: 1, count: 100_000))
        }
        try withBackup(of: tree, user: 54321) { backup in
            try backup.create()
            try backup.restore()
            let place = backup.restored(backup.source)
            let ownerless = try TreeListing(of: backup.source).items.mapValues {
                $0.replacing(" 0 ", with: " 54321 ")
            }
            #expect(try TreeListing(of: place).items == ownerless)
            for name in ["hole", "only a hole", "read-only", "set-ID"] as [FileName] {
                let before = try backup.source.appending(name).status().allocatedSize
                let after = try place.appending(name).status().allocatedSize
                #expect(after <= before, "\(name)")
            }
            #expect(try place.appending("full").status().allocatedSize >= 100_000)
        }
    }
}
