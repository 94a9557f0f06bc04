import Eviction
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Reading a repository without restic", .timeLimit(.minutes(5)))
struct RepositoryReaderTests {
    @Test("entries come in order, with exact names, and without those of the record")
    func entries() throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let record = repository.tree([
                .file("resval-record-1", content: [repository.data("{}"), repository.data("x\n")])
            ])
            let below = repository.tree([.file("é", size: 7), .file(#"\\xff\\n"#)])
            let root = repository.tree([
                .directory("tmp", repository.tree([.directory("a", below)])),
                .directory("var", repository.tree([.directory("resval-0", record)])),
            ])
            let path = Array("/var/resval-0/resval-record-1".utf8)
            let snapshot = try repository.finish(
                root: root, tags: ["resval-record=\(String(decoding: path, as: UTF8.self))"])
            let reader = try #require(repository.reader)
            let all = read(snapshot, by: reader)
            #expect(all.isComplete)
            #expect(all.handler.identifier == snapshot)
            let paths = [
                Array("/tmp".utf8), Array("/tmp/a".utf8), Array("/tmp/a/é".utf8),
                Array("/tmp/a/".utf8) + [0xFF, 0x0A],
            ]
            let entries = all.handler.entries
            #expect(entries.map(\.path) == paths)
            #expect(entries.map(\.size) == [0, 0, 7, 4])
            #expect(
                entries.map(\.kind) == [.directory, .directory, .regularFile, .regularFile])
            #expect(entries.allSatisfy { $0.modified.nanoseconds == 500_000_000 })
            #expect(entries.last?.permissions == 0o640)
            #expect(all.count == 7)
            let part = read(String(snapshot.prefix(8)), below: "/tmp/a", by: reader)
            #expect(part.isComplete)
            #expect(part.handler.entries.map(\.path) == Array(paths.dropFirst()))
            func content(_ path: [UInt8]) throws -> [UInt8]? {
                try reader.content(of: path, in: snapshot, unless: { false })
            }
            #expect(try content(path) == Array("{}x\n".utf8))
            #expect(try content(Array("/tmp/a".utf8)) == nil)
            #expect(try content(Array("/tmp/none".utf8)) == nil)
            // It has no content, but claims a size.
            #expect(try content(paths[2]) == nil)
        }
    }

    @Test("all snapshots are listed, or none where one of them or the list cannot be read")
    func snapshots() throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let reader = try #require(repository.reader)
            #expect(try reader.snapshots(unless: { false }) == [])
            let tree = repository.tree([])
            let first = try repository.finish(root: tree, tags: ["a", "b"])
            let second = try repository.finish(root: tree)
            let all = try #require(try reader.snapshots(unless: { false }))
            #expect(Set(all.map(\.identifier)) == [first, second])
            #expect(all.allSatisfy { $0.originalIdentifier == $0.identifier && $0.root == tree })
            #expect(all.filter(SnapshotFilter(tags: ["b"]).accepts).map(\.identifier) == [first])
            let list = root.appending("snapshots")
            try write([], to: list.appending("0"))
            #expect(try reader.snapshots(unless: { false })?.count == 2)
            try write([], to: list.appending(String(repeating: "0", count: 64)))
            #expect(try reader.snapshots(unless: { false }) == nil)
            try tool("rm", "-r", list)
            #expect(try reader.snapshots(unless: { false }) == nil)
        }
    }

    @Test("a list of snapshots that changes while they are read is none")
    func changingSnapshots() throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let tree = repository.tree([])
            _ = try repository.finish(root: tree, tags: ["first"])
            let second = try repository.finish(root: tree)
            let reader = try #require(repository.reader)
            let (aside, list) = (root.appending(second), root.appending("snapshots"))
            try tool("mv", list.appending(second), aside)
            func addsSecond() -> Bool {
                _ = try? tool("mv", aside, list)
                return false
            }
            #expect(try reader.snapshots(unless: addsSecond) == nil)
            #expect(try reader.snapshots(unless: addsSecond)?.count == 2)
            #expect(throws: BackupError.self) { try reader.snapshots { true } }
        }
    }

    @Test(
        "a snapshot that restic may read in another way, or not at all, is left to it",
        arguments: [
            #""uid":"0""#, #""gid":-1"#, #""excludes":1"#, #""parent":"x""#, #""Tags":["a"]"#,
            #""HOSTNAME":"a""#, #""time":"@99""#, #""program_version":0"#, #""tree":"x""#,
        ])
    func otherFields(field: String) throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let reader = try #require(repository.reader)
            let tree = repository.tree([])
            let known = #""uid":0,"gid":0,"excludes":["*"],"parent":"\#(tree)","summary":{"a":[]}"#
            _ = try repository.finish(root: tree, fields: known)
            #expect(try reader.snapshots(unless: { false })?.count == 1)
            _ = try repository.finish(root: tree, fields: field)
            #expect(try reader.snapshots(unless: { false }) == nil)
        }
    }

    @Test("the newest files of the index are read first, and no more than necessary")
    func order() throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let old = try repository.finish(root: repository.tree([.file("old")]))
            let index = root.appending("index")
            try tool("sh", "-c", "touch -d 2001-01-01 $0/*", index)
            let first = try tool("ls", index)
            let second = try repository.finish(root: repository.tree([.file("second")]))
            let reader = try #require(repository.reader)
            try write([], to: index.appending(first))
            try tool("touch", "-d", "2001-01-01", index.appending(first))
            #expect(read(second, by: reader).isComplete)
            let third = try repository.finish(root: repository.tree([.file("third")]))
            #expect(read(third, by: reader).isComplete)
            #expect(!read(old, by: reader).isComplete)
        }
    }

    @Test("snapshots of a real repository are what restic lists")
    func realSnapshots() async throws {
        let program = try ResticProgram(searchPath: Array("/usr/local/bin:/usr/bin:/bin".utf8))
        let name = FileName([0x66, 0xE9, 0x0A])
        try await withTemporaryDirectory(containing: Tree { File(name, "text") }) { root in
            let location = root.appending("repository")
            try tool("cp", "-r", try emptyRepository(), location)
            let restic = try Restic(
                program: program, repository: RepositoryLocation(bytes: location.bytes),
                passwordFile: nil,
                environment: ["RESTIC_PASSWORD=\(repositoryPassword)", "HOME=\(root)"].map {
                    Array($0.utf8)
                })
            for words in [
                ["backup", "--host", "<h&ö\u{1B}>", "--tag", "a,b", "--tag", "<\u{7}>"],
                ["backup", "--host", "other", "--tag", "b", "--time", "2001-02-03 04:05:06"],
            ] {
                _ = try await restic.run(
                    ResticCommand(
                        "backup", words.dropFirst().map { Array($0.utf8) },
                        on: [root.appending(name).bytes]),
                    reading: NoOutput())
            }
            _ = try await restic.run(
                ResticCommand("tag", words("--add=resval-x", "--host=other")), reading: NoOutput())
            let filters = [
                SnapshotFilter(), SnapshotFilter(hostName: "other"),
                SnapshotFilter(tags: ["b", "a"]), SnapshotFilter(hostName: "none"),
            ]
            var listed: [[Snapshot]] = []
            for filter in filters { listed.append(try await restic.snapshots(filter)) }
            #expect(listed.map(\.count) == [2, 1, 1, 0])
            #expect(listed[1].allSatisfy { $0.originalIdentifier != $0.identifier })
            await restic.prepareReading()
            #expect(try await restic.repositoryReader()?.snapshots(unless: { false })?.count == 2)
            for (filter, listed) in zip(filters, listed) {
                #expect(try await restic.snapshots(filter) == listed)
            }
        }
    }

    @Test(
        "an invalid name, a wrong order or a directory without content ends the reading",
        arguments: [
            Node.file(".."), .file("."), .file(""), .file("a/b"), .file("/etc"), .file(#"a\\x00"#),
            .directory("d", String(repeating: "0", count: 64)), .directory("d", nil),
            .file("time", modified: "yesterday"), .file("zzzz"), .file("!"),
            .file(String(repeating: "x", count: 1 << 16)),
        ])
    func hostile(node: Node) throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let snapshot = try repository.finish(
                root: repository.tree([.file("!"), node, .file("zzz")]))
            let reading = read(snapshot, by: try #require(repository.reader))
            #expect(!reading.isComplete)
            let names = reading.handler.entries.map { String(decoding: $0.path, as: UTF8.self) }
            #expect(names.allSatisfy { $0 == "/!" || $0 == "/d" }, "\(names)")
            #expect(Set(names).count == names.count)
        }
    }

    @Test("no byte of a file of the repository can be changed unnoticed")
    func changes() throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let snapshot = try repository.finish(root: repository.tree([.file("a"), .file("b")]))
            let files = try tool("find", root, "-type", "f").split(separator: "\n")
            try #require(files.count == 4)
            for file in files {
                let path = FilePath(String(file))
                let content = try contentsOfFile(path)
                for position in content.indices {
                    var changed = content
                    changed[position] ^= 1
                    try write(changed, to: path)
                    guard let reader = repository.reader else { continue }
                    let reading = read(snapshot, by: reader)
                    // Behind the blobs of a pack is a header, which is not read.
                    #expect(
                        !reading.isComplete
                            || file.contains("/data/")
                                && position >= repository.blobLength,
                        "\(file) \(position)")
                    #expect(reading.isComplete || reading.handler.entries.isEmpty)
                }
                try write(content, to: path)
            }
            #expect(read(snapshot, by: try #require(repository.reader)).isComplete)
        }
    }

    @Test(
        "additions of a later backup to the index are found, and an unknown version is refused")
    func growing() throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            let first = try repository.finish(root: repository.tree([.file("a")]))
            let reader = try #require(repository.reader)
            #expect(read(first, by: reader).isComplete)
            let second = try repository.finish(root: repository.tree([.file("b")]))
            #expect(read(second, by: reader).handler.entries.map(\.path) == [Array("/b".utf8)])
            #expect(!read("", by: reader).isComplete)
            #expect(!read(String(repeating: "f", count: 64), by: reader).isComplete)
        }
        try withTemporaryDirectory { root in
            try #expect(HandmadeRepository(in: root, version: 3).reader == nil)
        }
    }

    @Test("a tree of 5,000 levels is read, and a task that was cancelled stops")
    func depth() throws {
        try withTemporaryDirectory { root in
            var repository = try HandmadeRepository(in: root)
            var tree = repository.tree([.file("deepest")])
            for _ in 0..<5_000 { tree = repository.tree([.directory("d", tree)]) }
            let snapshot = try repository.finish(root: tree)
            let reader = try #require(repository.reader)
            let reading = read(snapshot, by: reader)
            #expect(reading.isComplete)
            #expect(reading.count == 5_001)
            #expect(throws: BackupError.self) {
                try reader.readEntries(
                    of: snapshot, below: nil, with: Collector(), unless: { true })
            }
        }
    }

    @Test("compressed bytes are not decompressed beyond the limit")
    func bombs() throws {
        try require(.tool("zstd"))
        try withTemporaryDirectory { root in
            for (name, options) in [
                ("with-size", "--content-size"), ("without", "--no-content-size"),
            ] {
                let path = root.appending(name)
                try tool(
                    "sh", "-c",
                    "head -c 1000000 /dev/zero | zstd -q $2 --stream-size=1000000 > $1", "sh", path,
                    options)
                let bytes = try contentsOfFile(path)
                #expect(decompressed(bytes[...], limit: 1_000_000)?.count == 1_000_000)
                #expect(decompressed(bytes[...], limit: 999_999) == nil)
                #expect(decompressed(bytes.dropLast(), limit: 1_000_000) == nil)
            }
            #expect(decompressed([], limit: 10) == nil)
            #expect(decompressed([1, 2, 3], limit: 10) == nil)
        }
    }

    private func read(
        _ digits: String, below path: String? = nil, by reader: RepositoryReader
    ) -> PartialReading<Collector> {
        let path = path.map { Array($0.utf8) }
        do throws(BackupError) {
            return try reader.readEntries(
                of: digits, below: path, with: Collector(), unless: { false })
        } catch {
            Issue.record(error)
            return PartialReading(handler: Collector())
        }
    }
}

private struct Collector: SnapshotEntryHandler {
    var identifier: String?
    var entries: [SnapshotEntry] = []

    mutating func receive(identifier: String) { self.identifier = identifier }
    mutating func receive(_ entry: SnapshotEntry) { entries.append(entry) }
}

/// An entry of a directory, with its name as restic writes it.
struct Node: Sendable {
    let json: String

    static func file(
        _ name: String, size: Int = 4, content: [String] = [],
        modified: String = "2026-01-02T03:04:05.5+01:00"
    ) -> Node {
        let content = content.map { "\"\($0)\"" }.joined(separator: ",")
        return Node(
            json: #"{"name":"\#(name)","type":"file","mode":416,"mtime":"\#(modified)","#
                + #""size":\#(size),"content":[\#(content)]}"#)
    }

    static func directory(_ name: String, _ subtree: String?) -> Node {
        let subtree = subtree.map { #","subtree":"\#($0)""# } ?? ""
        return Node(
            json: #"{"name":"\#(name)","type":"dir","mode":2147484141,"#
                + #""mtime":"2026-01-02T03:04:05.5Z"\#(subtree)}"#)
    }
}

/// A repository that is written here, so that it can contain what restic never writes.
struct HandmadeRepository {
    private let directory: FilePath
    private let key: PackKey
    private var blobs: [(description: String, sealed: [UInt8])] = []
    /// The length of the blobs of the last pack, in bytes.
    private(set) var blobLength = 0

    init(in directory: FilePath, version: Int = 2) throws {
        self.directory = directory
        // 32 bytes, and 16.
        let (long, short) = (String(repeating: "B", count: 42) + "E=", "AQIDBAUGBwgJCgsMDQ4PEA==")
        key = try PackKey(
            json: Array(#"{"mac":{"k":"\#(short)","r":"\#(short)"},"encrypt":"\#(long)"}"#.utf8))
        for name in ["snapshots", "index", "data"] {
            try tool("mkdir", directory.appending(name))
        }
        let config = #"{"version":\#(version),"id":"01","chunker_polynomial":"3"}"#
        try write(key.sealing(Array(config.utf8)), to: directory.appending("config"))
    }

    /// What reads it; nil if its version is unknown.
    var reader: RepositoryReader? { RepositoryReader(directory, key) }

    /// Adds a directory, and returns the identifier of its tree.
    mutating func tree(_ nodes: [Node]) -> String {
        let json = #"{"nodes":[\#(nodes.map(\.json).joined(separator: ","))]}"# + "\n"
        return add(Array(json.utf8), "tree")
    }

    /// Adds data of a file, and returns its identifier.
    mutating func data(_ text: String) -> String { add(Array(text.utf8), "data") }

    private mutating func add(_ content: [UInt8], _ type: String) -> String {
        let identifier = SHA256.digest(of: content)
        let sealed = key.sealing(content)
        let offset = blobs.reduce(0) { $0 + $1.sealed.count }
        blobs.append(
            (
                #"{"id":"\#(identifier)","type":"\#(type)","offset":\#(offset),"#
                    + #""length":\#(sealed.count)}"#, sealed
            ))
        return identifier
    }

    /// Writes what was added, and a snapshot.
    ///
    /// - Returns: the snapshot's identifier.
    mutating func finish(
        root: String, tags: [String] = [], fields: String = #""id":"0""#
    ) throws -> String {
        let content = blobs.flatMap(\.sealed)
        blobLength = content.count
        let pack = content + key.sealing([1, 2, 3])
        let name = SHA256.digest(of: pack)
        let place = directory.appending("data").appending(String(name.prefix(2)))
        try tool("mkdir", "-p", place)
        try write(pack, to: place.appending(name))
        let list = blobs.map(\.description).joined(separator: ",")
        blobs = []
        _ = try add(#"{"packs":[{"id":"\#(name)","blobs":[\#(list)]}]}"#, in: "index")
        let tags = tags.map { "\"\($0)\"" }.joined(separator: ",")
        return try add(
            #"{"time":"2026-01-02T03:04:05Z","tree":"\#(root)","tags":[\#(tags)],\#(fields)}"#,
            in: "snapshots")
    }

    private func add(_ json: String, in kind: FilePath.Component) throws -> String {
        let sealed = key.sealing(Array(json.utf8))
        let name = SHA256.digest(of: sealed)
        try write(sealed, to: directory.appending(kind).appending(name))
        return name
    }
}

private func write(_ bytes: [UInt8], to path: FilePath) throws {
    try bytes.withUnsafeBytes { try path.writeFile($0, permissions: 0o600) }
}
