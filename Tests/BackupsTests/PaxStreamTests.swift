import Synchronization
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Reading the tar archives that restic writes", .timeLimit(.minutes(5)))
struct PaxStreamTests {
    private let sizes = [0, 1, 511, 512, 513, 1024, 3000]

    /// Files of several sizes between directories and links, with names of every kind.
    private func mixedArchive() -> TarArchive {
        var archive = TarArchive()
        archive.add("tmp/", type: "5")
        for size in sizes { archive.add("tmp/\(size)", content(size)) }
        archive.add("tmp/zeros", [UInt8](repeating: 0, count: 2048))
        archive.add("tmp/hard link", type: "1", size: "00000000007")
        archive.add("tmp/old", content(5), type: "\0")
        archive.add("tmp/link", type: "2", size: "00000000007")
        archive.add("tmp/pipe", type: "6")
        archive.add("file", content(600), prefix: "a/b")
        let long = [101, 255, 256, 257].map { [UInt8](repeating: 0x61, count: $0) }
        let deep = Array(repeating: HostileNames.longest.bytes, count: 20).joined(separator: [0x2F])
        for name in HostileNames.all.map(\.bytes) + long + [Array(deep)] {
            archive.add(path: Array("names/".utf8) + name, content(9))
        }
        archive.end()
        return archive
    }

    private func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
    }

    @Test("however the bytes arrive, each file is read whole")
    func pieces() throws {
        let archive = mixedArchive()
        #expect(archive.files.count == sizes.count + 3 + HostileNames.all.count + 5)
        #expect(archive.files.contains { $0.path.count > 4096 })
        for size in Array(1...1100) + [4096, 65536, .max] {
            let files = Files()
            try files.read(archive.bytes, by: size)
            #expect(files.all == archive.files, "pieces of \(size) bytes")
        }
    }

    @Test("a file that is not wanted is skipped")
    func choice() throws {
        let archive = mixedArchive()
        for file in archive.files {
            let files = Files(isWanted: { $0 == file.path })
            try files.read(archive.bytes)
            #expect(files.all == [file])
        }
    }

    @Test("whatever follows the end is ignored, and nothing at all has no end")
    func end() throws {
        var archive = TarArchive()
        archive.end()
        for more in [[], [1], [UInt8](repeating: 0, count: 9216), content(9000)] {
            try Files().read(archive.bytes + more)
        }
        #expect(throws: BackupError.self) { try Files().read([]) }
    }

    @Test("an archive that is cut anywhere is an error, and no file that is cut is finished")
    func cuts() throws {
        var archive = TarArchive()
        archive.add("empty", [])
        archive.add("a", content(600))
        archive.add(path: Array("a\n/b".utf8), content(512))
        archive.add("c", content(1))
        archive.end()
        for count in archive.bytes.indices {
            let files = Files()
            #expect(throws: BackupError.self) { try files.read(Array(archive.bytes[..<count])) }
            let whole = zip(archive.files, archive.ends).filter { $0.1 <= count }.map(\.0)
            #expect(files.all.filter(\.isFinished) == whole, "\(count) bytes")
        }
    }

    @Test("a file whose consumer throws is skipped, and those after it are read")
    func refusals() throws {
        let archive = mixedArchive()
        for (index, file) in archive.files.enumerated() where !file.content.isEmpty {
            for limit in [0, file.content.count / 2, file.content.count] {
                let files = Files(refusing: (file.path, limit))
                try files.read(archive.bytes, by: 100)
                var expected = archive.files
                expected[index].isFinished = false
                expected[index].content = files.all[index].content
                #expect(files.all == expected)
                #expect(files.all[index].content.count <= limit)
            }
        }
    }

    @Test("a header with any byte changed is an error")
    func checksum() {
        let bytes = archive { $0.add("file", content(5), prefix: "a") }
        for index in 0..<512 where !(148..<156).contains(index) {
            var bytes = bytes
            bytes[index] ^= 0x01
            expectDamage(bytes)
        }
    }

    @Test("sizes and records that no archive of restic has are errors")
    func damaged() {
        let longest = [UInt8](repeating: 0xFF, count: 8)
        let sizes =
            [
                "", "-0000000001", "+0000000001", "00000000008", "0000 000001", "0x000000001",
                "\u{0}00000000001", "1.000000000",
            ].map { Array($0.utf8) }
            + [
                [0x80, 0, 0, 0], [0x80, 0, 0, 1], [0x80, 0xFF, 0xFF, 0xFF], [0x81, 0, 0, 0],
                [0xFF, 0xFF, 0xFF, 0xFF],
            ].map { $0 + longest }
        for size in sizes { expectDamage(archive { $0.add("file", content(1), size: size) }) }
        for text in [
            "9", "9 ", " ", "\n", "=", "0 path=a\n", "1 path=a\n", "2 path=a\n", "8 path=a\n",
            "11 path=a\n", "99 path=a\n", "-9 path=a\n", "+9 path=a\n", " 9 path=a\n",
            "9path=abc\n", "9\tpath=a\n", "9 path=ab", "6 path\n", "9 path a\n", "9 path=a\n\n",
            "99999999999999999999999 path=a\n", "9223372036854775807 path=a\n",
            "18446744073709551625 path=a\n", "0x9 path=a\n", "9 path=a\n9 path=b",
        ] {
            let records = TarArchive.extendedHeader(Array(text.utf8))
            expectDamage(archive { $0.add("file", content(1), before: records) })
        }
        for (key, value) in [
            ("path", ""), ("path", "\0"), ("path", "a\0b"), ("path", "a\0"), ("size", ""),
            ("size", "-1"), ("size", "+1"), ("size", " 1"), ("size", "1\0"), ("size", "0x1"),
            ("size", "1.0"), ("size", "9223372036854775808"), ("size", "18446744073709551617"),
        ] {
            expectDamage(archive { $0.add("file", content(1), before: $0.records([(key, value)])) })
        }
        for type: Unicode.Scalar in ["7", "L", "K", "S", "A", "g", "é"] {
            expectDamage(archive { $0.add("file", type: type) })
        }
        expectDamage(TarArchive.header("x", type: "x", size: Array("00100000001".utf8)))
        let zeros = [UInt8](repeating: 0, count: 512)
        expectDamage(zeros + archive { $0.add("file", content(1)) })
    }

    /// An archive with its end.
    private func archive(_ body: (inout TarArchive) -> Void) -> [UInt8] {
        var archive = TarArchive()
        body(&archive)
        archive.end()
        return archive.bytes
    }

    @Test("what is wrong once stays wrong")
    func failed() {
        var archive = TarArchive()
        archive.add("file", content(5))
        archive.end()
        let files = Files()
        var stream = PaxStream(member: files.consumer)
        #expect(throws: BackupError.self) { try stream.receive(content(512)) }
        #expect(throws: BackupError.self) { try stream.receive(archive.bytes) }
        #expect(throws: BackupError.self) { try stream.finish() }
        #expect(files.all.isEmpty)
    }

    @Test("headers of records of up to 16 MiB are read")
    func large() throws {
        let limit = Int(PaxStream.longestRecords)
        let value = String(repeating: "=", count: limit - "16777216 a=\n".utf8.count)
        var archive = TarArchive()
        archive.add("long", content(1), before: archive.records([("a", value)]))
        archive.end()
        let files = Files()
        try files.read(archive.bytes, by: 65536)
        #expect(files.all == archive.files)
    }

    @Test("records end by their length, and the last of a key counts")
    func records() throws {
        var archive = TarArchive()
        let records = archive.records([
            ("SCHILY.xattr.user.a", "x\n9 path=a\n=\0\n"), ("path", "overridden"), ("mtime", "1.5"),
            ("path", "a=b\n11 path=no\n"), ("", "x"), ("size", "515"), ("SCHILY.xattr.b", ""),
            ("PATH", "x"),
        ])
        archive.add(
            "header", content(515), size: Array("00000000000".utf8), before: records,
            as: "a=b\n11 path=no\n")
        archive.add("header", content(2))
        archive.add("/slashes", content(1), before: archive.records([("path", "//s")]), as: "s")
        // A hard link, whatever its type.
        archive.bytes += archive.records([("linkpath", "a")])
        archive.add("link", type: "0")
        archive.end()
        let files = Files()
        try files.read(archive.bytes)
        #expect(files.all == archive.files)
    }

    @Test("a file of the largest size goes on, and its records may not say more")
    func largestSize() {
        var archive = TarArchive()
        archive.bytes += archive.records([("size", "\(Int64.max)")])
        archive.bytes += TarArchive.header("file", type: "0", size: Array("00000000000".utf8))
        archive.bytes += content(9000)
        let files = Files()
        #expect(throws: BackupError.self) { try files.read(archive.bytes) }
        #expect(files.all == [Files.File(path: Array("/file".utf8), content: content(9000))])
    }

    /// Expects an error that names the damage, and no file.
    private func expectDamage(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        let files = Files()
        var stream = PaxStream(member: files.consumer)
        let error = #expect(throws: BackupError.self, sourceLocation: sourceLocation) {
            try stream.receive(bytes)
        }
        #expect(error?.code == .unexpectedAnswer, sourceLocation: sourceLocation)
        #expect(files.all.allSatisfy { !$0.isFinished }, sourceLocation: sourceLocation)
    }
}

/// The files that a stream passed on.
private final class Files: Sendable {
    struct File: Sendable, Equatable {
        var path: [UInt8]
        var content: [UInt8] = []
        var isFinished = false
    }

    private let files = Mutex<[File]>([])
    private let isWanted: @Sendable ([UInt8]) -> Bool
    private let refused: (path: [UInt8], limit: Int)?

    /// - Parameter refused: the file whose consumer throws when it has this many bytes: for the next
    ///   ones, or for the end.
    init(
        isWanted: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
        refusing refused: (path: [UInt8], limit: Int)? = nil
    ) {
        self.isWanted = isWanted
        self.refused = refused
    }

    var all: [File] { files.withLock { $0 } }

    func consumer(_ path: [UInt8]) -> (any OutputConsumer)? {
        guard isWanted(path) else { return nil }
        let limit = refused?.path == path ? refused?.limit : nil
        return files.withLock {
            $0.append(File(path: path))
            return Consumer(files: self, index: $0.count - 1, limit: limit)
        }
    }

    /// Reads an archive in pieces of `size` bytes.
    func read(_ archive: [UInt8], by size: Int = .max) throws {
        var stream = PaxStream(member: consumer)
        var rest = archive[...]
        while !rest.isEmpty {
            try stream.receive(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        try stream.finish()
    }

    private struct Consumer: OutputConsumer {
        let files: Files
        let index: Int
        let limit: Int?
        var isRefused = false

        mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
            #expect(!isRefused)
            isRefused = files.files.withLock { files in
                #expect(!files[index].isFinished && !bytes.isEmpty)
                if let limit, files[index].content.count + bytes.count > limit { return true }
                files[index].content += bytes
                return false
            }
            if isRefused { throw BackupError(.other, "refused") }
        }

        func finish() throws(BackupError) {
            #expect(!isRefused)
            if limit != nil { throw BackupError(.other, "refused") }
            files.files.withLock { files in
                #expect(!files[index].isFinished)
                files[index].isFinished = true
            }
        }
    }
}

/// An archive that is written by hand.
private struct TarArchive {
    var bytes: [UInt8] = []
    /// The regular files, as they must be read.
    private(set) var files: [Files.File] = []
    /// Where the content of each file ends.
    private(set) var ends: [Int] = []

    /// Adds a file with a header of its own.
    ///
    /// - Parameters:
    ///   - size: what the header says; nil for the truth.
    ///   - extended: the extended headers before it.
    ///   - path: the path, where the extended header says another.
    mutating func add(
        _ name: String, _ content: [UInt8], type: Unicode.Scalar = "0", size: [UInt8]? = nil,
        prefix: String = "", before extended: [UInt8] = [], as path: String? = nil
    ) {
        let told = prefix.isEmpty ? name : "\(prefix)/\(name)"
        bytes += extended
        bytes += Self.header(
            name, type: type, size: size ?? Self.octal(content.count), prefix: prefix)
        add(content, path: Array("/\(path ?? told)".utf8))
    }

    /// Adds a file with an extended header that has its path.
    mutating func add(path: [UInt8], _ content: [UInt8]) {
        bytes += Self.extendedHeader(Self.record(Array("path".utf8), path))
        bytes += Self.header("cut", type: "0", size: Self.octal(content.count))
        add(content, path: [UInt8(ascii: "/")] + path)
    }

    /// Adds a member that has no content.
    mutating func add(_ name: String, type: Unicode.Scalar, size: String = "00000000000") {
        bytes += Self.header(name, type: type, size: Array(size.utf8))
    }

    mutating func end() { bytes += [UInt8](repeating: 0, count: 1024) }

    /// An extended header with these records.
    func records(_ records: [(String, String)]) -> [UInt8] {
        Self.extendedHeader(
            records.flatMap { Self.record(Array($0.0.utf8), Array($0.1.utf8)) })
    }

    static func extendedHeader(_ records: [UInt8]) -> [UInt8] {
        padded(header("PaxHeaders.0/x", type: "x", size: octal(records.count)) + records)
    }

    static func header(
        _ name: String, type: Unicode.Scalar, size: [UInt8], prefix: String = ""
    ) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 512)
        for (offset, field) in [
            (0, Array(name.utf8)), (100, Array("0000644".utf8)), (124, size),
            (148, [UInt8](repeating: 0x20, count: 8)),
            (156, [UInt8(truncatingIfNeeded: type.value)]),
            (257, Array("ustar\u{0}00".utf8)), (345, Array(prefix.utf8)),
        ] { block.replaceSubrange(offset..<(offset + field.count), with: field) }
        let sum = octal(block.reduce(0) { $0 + Int($1) }).suffix(6)
        block.replaceSubrange(148..<156, with: sum + [0, 0x20])
        return block
    }

    private static func record(_ key: [UInt8], _ value: [UInt8]) -> [UInt8] {
        let rest = [0x20] + key + [UInt8(ascii: "=")] + value + [UInt8(ascii: "\n")]
        var count = rest.count
        while "\(count)".utf8.count + rest.count != count { count += 1 }
        return Array("\(count)".utf8) + rest
    }

    private static func octal(_ number: Int) -> [UInt8] {
        let digits = String(number, radix: 8)
        return Array((String(repeating: "0", count: 11 - digits.utf8.count) + digits).utf8)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
    }

    private mutating func add(_ content: [UInt8], path: [UInt8]) {
        bytes += content
        ends.append(bytes.count)
        bytes = Self.padded(bytes)
        files.append(Files.File(path: path, content: content, isFinished: true))
    }
}
