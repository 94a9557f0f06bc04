import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The records of files that a verified snapshot contains")
struct StoredFileRecordsTests {
    private let repository = "0123456789abcdef"
    private let set = "fedcba9876543210"

    @Test("a recorded file is found among many, and no other")
    func search() throws {
        try withFiles(count: 300) { root, files in
            let records = StoredFileRecords(stateHome: root.appending("state"))
            #expect(!records.contain(files[0], now: .now))
            for count in [0, 1, 2, 3, 100, 299] {
                try records.replace(
                    repository, set, with: files.prefix(count).compactMap(StoredFileState.init),
                    of: .init(identifier: "a", file: nil))
                for (index, file) in files.enumerated() {
                    #expect(records.contain(file, now: .now) == (index < count), "\(index)")
                }
            }
        }
    }

    @Test(
        "records are believed for seven days, or one where nothing shows that the snapshot exists",
        arguments: [(true, 7), (false, 1)])
    func age(hasSnapshotFile: Bool, days: Int64) throws {
        try withFiles(count: 1) { root, files in
            try Tree { File("snapshot") }.create(in: root)
            let records = try self.records(
                of: files, in: root, hasSnapshotFile ? root.appending("snapshot") : nil)
            let now = FileTime.now
            for (seconds, isTrusted) in [
                (1, true), (days * 86400 - 60, true), (days * 86400 + 60, false), (-3600, false),
                (1 << 40, false),
            ] {
                let later = FileTime(seconds: now.seconds + seconds, nanoseconds: 0)
                #expect(records.contain(files[0], now: later) == isTrusted, "\(seconds)")
            }
        }
    }

    @Test("records end with the file that stands for their snapshot")
    func snapshotFile() throws {
        try withFiles(count: 1) { root, files in
            try Tree { File("snapshot") }.create(in: root)
            let snapshot = root.appending("snapshot")
            let records = try self.records(of: files, in: root, snapshot)
            #expect(records.contain(files[0], now: .now))
            try tool("rm", snapshot)
            #expect(!records.contain(files[0], now: .now))
            try tool("mkdir", snapshot)
            #expect(!records.contain(files[0], now: .now))
            // A path that does not fit in the header is not the same as none.
            let long = FilePath(bytes: Array(repeating: UInt8(ascii: "a"), count: 5000))
            _ = try self.records(of: files, in: root, long)
            #expect(!records.contain(files[0], now: .now))
        }
    }

    @Test("records of other snapshots of a repository are removed, and those of others stay")
    func removal() throws {
        try withFiles(count: 3) { root, files in
            let records = StoredFileRecords(stateHome: root.appending("state"))
            let other = "ffffffffffffffff"
            for (index, (repository, set, snapshot)) in [
                (repository, set, "kept"), (repository, other, "removed"), (other, set, "removed"),
            ].enumerated() {
                try records.replace(
                    repository, set, with: [files[index]].compactMap(StoredFileState.init),
                    of: .init(identifier: snapshot, file: nil))
            }
            try records.remove(repository, except: ["kept"])
            #expect(files.map { records.contain($0, now: .now) } == [true, false, true])
            try records.remove(repository, except: [])
            #expect(files.map { records.contain($0, now: .now) } == [false, false, true])
        }
    }

    @Test("all records of a repository are removed, however many, and nothing stops at a directory")
    func manyRemoved() throws {
        try withFiles(count: 1) { root, files in
            let records = try self.records(of: files, in: root)
            let sets = (0..<100).map { 1_000_000_000_000_000 + $0 }
            try Tree {
                for set in sets {
                    File(FileName(Array("\(repository)-\(set)".utf8)), "text")
                }
                Directory(FileName(Array("\(repository)-aaaaaaaaaaaaaaaa".utf8)))
            }.create(in: records.directory)
            try records.remove(repository, except: [])
            try #expect(
                tool("ls", records.directory).split(separator: "\n")
                    == ["\(repository)-aaaaaaaaaaaaaaaa"])
        }
    }

    @Test("of more files than the limit, none is recorded")
    func limit() throws {
        try withFiles(count: 4) { _, files in
            let states = files.compactMap(StoredFileState.init)
            var list = StoredFileList(limit: 3)
            for count in 1...3 {
                list.append(states[count - 1])
                #expect(list.files == Array(states.prefix(count)))
            }
            for _ in 0..<2 {
                list.append(states[3])
                #expect(list.files.isEmpty)
            }
        }
    }

    @Test("a new record removes those that are too old, or no records at all")
    func outdated() throws {
        try withFiles(count: 1) { root, files in
            let records = try self.records(of: files, in: root)
            let whole = try contentsOfFile(records.directory.appending("\(repository)-\(set)"))
            // The time of creation is after the first 16 bytes.
            let old = Array(whole.prefix(16)) + Array(repeating: 0, count: 16) + whole.dropFirst(32)
            try Tree {
                File("aaaaaaaaaaaaaaaa-aaaaaaaaaaaaaaaa", old).permissions(0o600)
                File("bbbbbbbbbbbbbbbb-bbbbbbbbbbbbbbbb", "text").permissions(0o600)
                File("other").permissions(0o600)
            }.create(in: records.directory)
            _ = try self.records(of: files, in: root)
            try #expect(
                tool("ls", records.directory).split(separator: "\n")
                    == ["\(repository)-\(set)", "other"])
        }
    }

    @Test("a file that changed since the beginning is not recorded, nor one with whole seconds")
    func eligibility() throws {
        try withFiles(count: 1) { root, files in
            let changed = files[0].attributeModificationTime
            func at(_ seconds: Int64) -> FileTime {
                FileTime(seconds: changed.seconds + seconds, nanoseconds: changed.nanoseconds)
            }
            #expect(StoredFileState(files[0], unchangedSince: at(0)) == nil)
            #expect(StoredFileState(files[0], unchangedSince: at(1)) == nil)
            #expect(StoredFileState(files[0], unchangedSince: at(2)) != nil)
            try #expect(StoredFileState(root.status()) == nil)
        }
        try withFilesystem(.ext4SmallInodes) { filesystem in
            try Tree { File("f") }.create(in: filesystem.root)
            try #expect(StoredFileState(filesystem.root.appending("f").status()) == nil)
        }
    }

    @Test("whatever a file of records contains, no question ends the program or finds a file")
    func hostileContent() throws {
        try withFiles(count: 40) { root, files in
            let records = try self.records(of: Array(files.dropLast()), in: root)
            let path = records.directory.appending("\(repository)-\(set)")
            let whole = try contentsOfFile(path)
            func find(_ content: some Collection<UInt8>) throws -> Bool {
                try overwrite(path, with: content)
                return records.contain(files[39], now: .now)
            }
            for length in [0, 1, 15, 16, 39, 4607, 4608, 4609, whole.count - 1] {
                try #expect(!find(whole.prefix(length)), "\(length)")
                #expect(!records.contain(files[0], now: .now))
            }
            try #expect(!find(whole + [0]))
            var numbers = SeededNumbers(seed: 7)
            for _ in 0..<200 {
                var content = whole
                for _ in 0..<4 {
                    let index = Int.random(in: 0..<content.count, using: &numbers)
                    content[index] = UInt8.random(in: .min ... .max, using: &numbers)
                }
                try #expect(!find(content))
            }
            try #expect(!find(whole))
            #expect(records.contain(files[0], now: .now))
        }
    }

    @Test("whatever the time and the count of records are, no changed file is found")
    func hostileNumbers() throws {
        try withChangedFiles { records, path, files, changed in
            let whole = try contentsOfFile(path)
            func findChanged(_ content: [UInt8]) throws -> Bool {
                try overwrite(path, with: content)
                return changed.contains { records.contain($0, now: .now) }
            }
            // After the first 16 bytes: seconds, nanoseconds and the count.
            for index in 16..<40 {
                for value: UInt8 in [0, 0x7F, 0x80, 0xFF, whole[index] ^ 1, whole[index] ^ 0xFF] {
                    var content = whole
                    content[index] = value
                    try #expect(!findChanged(content), "\(index) \(value)")
                }
            }
            let extremes: [Int64] = [
                .min, .min + 1, -1_000_000_000, -1, 0, 1 << 22 + 1, 1 << 36, 1 << 58, 1 << 59,
                .max - 1, .max,
            ]
            for index in [16, 24, 32] {
                for number in extremes {
                    var content = whole
                    withUnsafeBytes(of: number) {
                        content.replaceSubrange(index..<(index + 8), with: $0)
                    }
                    try #expect(!findChanged(content), "\(index) \(number)")
                    // Some are nanoseconds like any others.
                    guard index != 24 || !(0..<1_000_000_000).contains(number) else { continue }
                    #expect(!records.contain(files[0], now: .now), "\(index) \(number)")
                }
            }
            try #expect(!findChanged(whole))
            #expect(files.allSatisfy { records.contain($0, now: .now) })
        }
    }

    @Test("a file is found by no record that differs in any byte, nor by one that is extreme")
    func hostileRecords() throws {
        try withChangedFiles { records, path, files, changed in
            let whole = try contentsOfFile(path)
            let length = StoredFileState.length
            for (position, file) in files.enumerated() {
                let record = whole.count - (files.count - position) * length
                func findsNone(_ content: [UInt8]) throws -> Bool {
                    try overwrite(path, with: content)
                    return ([file] + changed).allSatisfy { !records.contain($0, now: .now) }
                }
                for index in record..<(record + length) {
                    var content = whole
                    content[index] ^= 1 << UInt8(index % 8)
                    try #expect(findsNone(content), "\(position) \(index - record)")
                }
                for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                    var content = whole
                    content.replaceSubrange(
                        record..<(record + length), with: repeatElement(value, count: length))
                    try #expect(findsNone(content), "\(position) \(value)")
                }
            }
            try overwrite(path, with: whole)
            #expect(files.allSatisfy { records.contain($0, now: .now) })
        }
    }

    /// Calls `body` with the records of 20 files and their path, the status of each file as it is
    /// recorded and in the order of the records, and the status that each has since it changed.
    private func withChangedFiles(
        _ body: (StoredFileRecords, FilePath, [FileStatus], [FileStatus]) throws -> Void
    ) throws {
        try withFiles(count: 20) { root, files in
            let records = try self.records(of: files, in: root)
            let sorted = files.sorted { $0.identity.inode < $1.identity.inode }
            for index in files.indices {
                try overwrite(root.appending("files/\(index)"), with: [1, 2, 3])
            }
            let changed = try files.indices.map { try root.appending("files/\($0)").status() }
            let path = records.directory.appending("\(repository)-\(set)")
            try body(records, path, sorted, changed)
        }
    }

    /// Replaces the content of a file, which stays the same inode.
    private func overwrite(_ path: FilePath, with content: some Collection<UInt8>) throws {
        let file = try FileDescriptor.open(path, .writeOnly, options: [.truncate])
        try file.closeAfter { _ = try file.writeAll(content) }
    }

    private func records(
        of files: [FileStatus], in root: FilePath, _ snapshot: FilePath? = nil
    ) throws -> StoredFileRecords {
        let records = StoredFileRecords(stateHome: root.appending("state"))
        try records.replace(
            repository, set, with: files.compactMap(StoredFileState.init),
            of: .init(identifier: "a", file: snapshot))
        return records
    }

    /// Calls `body` with files, not in the order of their inodes.
    private func withFiles(
        count: Int, _ body: (FilePath, [FileStatus]) throws -> Void
    ) throws {
        let tree = Tree {
            Directory("files") {
                for index in 0..<count { File(FileName(Array("\(index)".utf8))) }
            }
        }
        try withTemporaryDirectory(containing: tree) { root in
            var numbers = SeededNumbers(seed: 3)
            let files = try (0..<count).map { try root.appending("files/\($0)").status() }
            try body(root, files.shuffled(using: &numbers))
        }
    }
}
