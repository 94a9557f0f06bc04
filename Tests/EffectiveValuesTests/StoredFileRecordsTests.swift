import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The records of files that a snapshot contains", .cleansUp)
struct StoredFileRecordsTests {
    private let repository = "0123456789abcdef"
    private let set = "fedcba9876543210"

    @Test("a recorded file is found among many, and no other")
    func search() throws {
        let (root, files) = try storedFiles(count: 300)
        let records = StoredFileRecords(stateHome: root.appending("state"))
        #expect(!files[0].isIn(records))
        for count in [0, 1, 2, 3, 100, 299] {
            try record(files.prefix(count), in: root)
            for (index, file) in files.enumerated() {
                #expect(file.isIn(records) == (index < count), "\(index)")
            }
        }
    }

    @Test("a file is not found under another path, device or inode, nor with another size or time")
    func differences() throws {
        let (root, files) = try storedFiles(count: 1)
        let records = try record(files, in: root)
        let file = files[0].path
        #expect(files[0].isIn(records))
        #expect(!records.contain(root.appending("other"), files[0].status, now: .now))
        let moved = root.appending("files/moved")
        try tool("mv", file, moved)
        try #expect(!Item(moved).isIn(records))
        try tool("mv", moved, file)
        for change in [
            ["cp", "-p", "FILE", "\(moved)"], ["mv", "\(moved)", "FILE"],
            ["chmod", "600", "FILE"], ["touch", "-d", "@1", "FILE"],
            ["setfattr", "-n", "user.resval.isPurgeable", "-v", "true", "FILE"],
            ["setfattr", "-x", "user.resval.isPurgeable", "FILE"],
            ["truncate", "-s", "1", "FILE"],
        ] {
            try record([Item(file)], in: root)
            try #expect(Item(file).isIn(records))
            let words = change.dropFirst().map { $0 == "FILE" ? "\(file)" : $0 }
            try tool(change[0], arguments: words)
            try #expect(Item(file).isIn(records) == (change[0] == "cp"), "\(change)")
        }
    }

    @Test("a filesystem that is mounted under another device number has no recorded file")
    func remounted() throws {
        let first = try remountedFilesystem(.ext4)
        try Tree { File("f") }.create(in: first.root)
        let root = try temporaryDirectory {}
        let records = try record([Item(first.root.appending("f"))], in: root)
        try #expect(Item(first.root.appending("f")).isIn(records))
        let device = try first.root.status().identity.device
        try first.remount()
        try #require(first.root.status().identity.device != device)
        try #expect(!Item(first.root.appending("f")).isIn(records))
    }

    @Test(
        "records are believed for seven days, or one where nothing shows that the snapshot exists",
        arguments: [(true, 7), (false, 1)])
    func age(hasSnapshotFile: Bool, days: Int64) throws {
        let (root, files) = try storedFiles(count: 1)
        try Tree { File("snapshot") }.create(in: root)
        let records = try record(files, in: root, of: "snapshot", hasSnapshotFile ? root : nil)
        let now = FileTime.now
        for (seconds, isTrusted) in [
            (1, true), (days * 86400 - 60, true), (days * 86400 + 60, false), (-3600, false),
            (1 << 40, false),
        ] {
            let later = FileTime(seconds: now.seconds + seconds, nanoseconds: 0)
            #expect(files[0].isIn(records, now: later) == isTrusted, "\(seconds)")
        }
    }

    @Test("records end with the file that stands for their snapshot")
    func snapshotFile() throws {
        let (root, files) = try storedFiles(count: 1)
        try Tree { File("snapshot") }.create(in: root)
        let snapshot = root.appending("snapshot")
        let records = try record(files, in: root, of: "snapshot", root)
        #expect(files[0].isIn(records))
        try tool("rm", snapshot)
        #expect(!files[0].isIn(records))
        try tool("mkdir", snapshot)
        #expect(!files[0].isIn(records))
        // A path that no call takes is not the same as none.
        for length in [4096, 5000] {
            let long = FilePath(bytes: Array(repeating: UInt8(ascii: "a"), count: length))
            try record(files, in: root, of: "snapshot", long)
            #expect(!files[0].isIn(records))
        }
    }

    @Test("the records of a snapshot go on when it gets another identifier, and do not get younger")
    func rename() throws {
        let (root, files) = try storedFiles(count: 2)
        try Tree { File("new") }.create(in: root)
        let records = try record(files.prefix(1), in: root, of: "old", root)
        #expect(!files[0].isIn(records))
        records.rename("ffffffffffffffff", "old", to: "new")
        records.rename(repository, "ld", to: "new")
        #expect(!files[0].isIn(records))
        let path = records.directory.appending("\(repository)-\(set)-old")
        let before = try path.status().contentModificationTime
        records.rename(repository, "old", to: "new")
        #expect(files[0].isIn(records))
        let renamed = records.directory.appending("\(repository)-\(set)-new")
        try #expect(renamed.status().contentModificationTime == before)
    }

    @Test("records of other snapshots of a repository are removed, and those of others stay")
    func removal() throws {
        let (root, files) = try storedFiles(count: 3)
        let records = StoredFileRecords(stateHome: root.appending("state"))
        let other = "ffffffffffffffff"
        for (index, (repository, set, snapshot)) in [
            (repository, set, "kept"), (repository, other, "removed"), (other, set, "removed"),
        ].enumerated() {
            try records.replace(
                repository, set, of: snapshot, in: nil, with: files[index...index].hashes)
        }
        try records.remove(repository, except: ["kept"])
        #expect(files.map { $0.isIn(records) } == [true, false, true])
        try records.remove(repository, except: [])
        #expect(files.map { $0.isIn(records) } == [false, false, true])
    }

    @Test("all records of a repository are removed, however many, and nothing stops at a directory")
    func manyRemoved() throws {
        let (root, files) = try storedFiles(count: 1)
        let records = try record(files, in: root)
        let sets = (0..<100).map { 1_000_000_000_000_000 + $0 }
        try Tree {
            for set in sets { File("\(repository)-\(set)-a", "text") }
            Directory("\(repository)-aaaaaaaaaaaaaaaa-a")
        }.create(in: records.directory)
        try records.remove(repository, except: [])
        try #expect(
            tool("ls", records.directory).split(separator: "\n")
                == ["\(repository)-aaaaaaaaaaaaaaaa-a"])
    }

    @Test("a new record removes those of earlier snapshots of the SET, and those that are too old")
    func outdated() throws {
        let (root, files) = try storedFiles(count: 1)
        let records = try record(files, in: root, of: "earlier")
        let old = FileTime(seconds: FileTime.now.seconds - 8 * 86400, nanoseconds: 1)
        try Tree {
            File("aaaaaaaaaaaaaaaa-aaaaaaaaaaaaaaaa-a", "text").permissions(0o600).modified(old)
            File("bbbbbbbbbbbbbbbb-bbbbbbbbbbbbbbbb-b", "text").permissions(0o600)
            File("other").permissions(0o600).modified(old)
        }.create(in: records.directory)
        try record(files, in: root)
        try #expect(
            tool("ls", records.directory).split(separator: "\n") == [
                "\(repository)-\(set)-a", "bbbbbbbbbbbbbbbb-bbbbbbbbbbbbbbbb-b", "other",
            ])
    }

    @Test("nothing but a regular file is recorded, nor a file with whole seconds")
    func eligibility() throws {
        let root = try temporaryDirectory()
        try #expect(StoredFileRecords.hash(of: root.bytes, root.status()) == nil)
        let filesystem = try filesystem(.ext4SmallInodes) { File("f") }
        let path = filesystem.root.appending("f")
        try #expect(StoredFileRecords.hash(of: path.bytes, path.status()) == nil)
    }

    @Test("whatever a file of records contains, no question ends the program or finds a file")
    func hostileContent() throws {
        let (root, files) = try storedFiles(count: 40)
        let records = try record(files.dropLast(), in: root)
        let path = records.directory.appending("\(repository)-\(set)-a")
        let whole = try contentsOfFile(path)
        func find(_ content: some Collection<UInt8>) throws -> Bool {
            try overwrite(path, with: content)
            return files[39].isIn(records)
        }
        for length in [0, 1, 7, 8, 9, 16, whole.count - 1] {
            try #expect(!find(whole.prefix(length)), "\(length)")
            #expect(!files[0].isIn(records))
        }
        // What follows the hashes names a directory, without the snapshot.
        try #expect(!find(whole + [0]))
        #expect(!files[0].isIn(records))
        try #expect(!find(whole + Array("relative".utf8)))
        #expect(!files[0].isIn(records))
        var numbers = SeededNumbers(seed: 7)
        for _ in 0..<200 {
            var content = whole
            for _ in 0..<4 {
                let index = Int.random(in: 0..<content.count, using: &numbers)
                content[index] = UInt8.random(in: .min ... .max, using: &numbers)
            }
            try #expect(!find(content))
        }
        let extremes: [UInt64] = [
            0, 38, 40, 1 << 32, 1 << 60, 1 << 61 - 1, 1 << 61, 1 << 63 - 1, 1 << 63, .max,
        ]
        for count in extremes {
            let bytes = withUnsafeBytes(of: count) { Array($0) }
            try #expect(!find(bytes + whole.dropFirst(8)), "\(count)")
        }
        try #expect(!find(whole))
        #expect(files[0].isIn(records))
    }

    @Test("a file is found by no hash that differs in any bit, nor by one that is extreme")
    func hostileHashes() throws {
        let (root, files) = try storedFiles(count: 20)
        let records = try record(files, in: root)
        let path = records.directory.appending("\(repository)-\(set)-a")
        let whole = try contentsOfFile(path)
        let sorted = files.sorted { ($0.hash ?? 0) < ($1.hash ?? 0) }
        for (position, file) in sorted.enumerated() {
            let hash = 8 * (position + 1)
            for index in hash..<(hash + 8) {
                var content = whole
                content[index] ^= 1 << UInt8(index % 8)
                try overwrite(path, with: content)
                #expect(!file.isIn(records), "\(position) \(index - hash)")
            }
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                var content = whole
                content.replaceSubrange(hash..<(hash + 8), with: repeatElement(value, count: 8))
                try overwrite(path, with: content)
                #expect(!file.isIn(records), "\(position) \(value)")
            }
        }
        try overwrite(path, with: whole)
        #expect(files.allSatisfy { $0.isIn(records) })
    }

    /// Replaces the content of a file, which stays the same inode.
    private func overwrite(_ path: FilePath, with content: some Collection<UInt8>) throws {
        let file = try FileDescriptor.open(path, .writeOnly, options: [.truncate])
        try file.closeAfter { _ = try file.writeAll(content) }
    }

    @discardableResult
    private func record(
        _ files: some Collection<Item>, in root: FilePath, of snapshot: String = "a",
        _ snapshots: FilePath? = nil
    ) throws -> StoredFileRecords {
        let records = StoredFileRecords(stateHome: root.appending("state"))
        try records.replace(repository, set, of: snapshot, in: snapshots, with: files.hashes)
        return records
    }

    /// Makes files, not in the order of their names.
    private func storedFiles(count: Int) throws -> (FilePath, [Item]) {
        let root = try temporaryDirectory { for index in 0..<count { File("files/\(index)") } }
        var numbers = SeededNumbers(seed: 3)
        let files = try (0..<count).map { try Item(root.appending("files/\($0)")) }
        return (root, files.shuffled(using: &numbers))
    }
}

/// A file as it was found.
private struct Item {
    let path: FilePath
    let status: FileStatus

    init(_ path: FilePath) throws {
        self.path = path
        status = try path.status()
    }

    var hash: UInt64? { StoredFileRecords.hash(of: path.bytes, status) }

    func isIn(_ records: StoredFileRecords, now: FileTime = .now) -> Bool {
        records.contain(path, status, now: now)
    }
}

extension Collection where Element == Item {
    fileprivate var hashes: [UInt64] { compactMap(\.hash) }
}
