import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Eviction

@Suite("Records of evicted files")
struct RecordTests {
    private func record(_ name: FileName, _ state: EvictedFile.State) -> EvictedFile {
        EvictedFile(
            state: state, path: FilePath("/home/me").appending(name),
            identity: FileIdentity(device: 65024, inode: .max), size: .max,
            modified: FileTime(seconds: -5, nanoseconds: 999_999_999), permissions: 0o4750,
            content: ContentHash(of: name.bytes), snapshot: "0a1b", pinTag: "resval-hold=1",
            repository: name.bytes, remainingBytes: state == .evicted ? 4096 : nil,
            failure: state == .evicted ? "no space – really\n%41" : nil)
    }

    @Test("every record reads as it was written, whatever the names", arguments: HostileNames.all)
    func roundTrip(name: FileName) throws {
        for state in EvictedFile.State.allCases {
            let record = record(name, state)
            #expect(try EvictedFile(text: record.text) == record)
            for born in [nil, FileTime(seconds: -1, nanoseconds: 5)] {
                let record = EvictedFile(
                    state: state, path: record.path, identity: record.identity,
                    persistentIdentity: PersistentIdentity(
                        filesystem: .named(name.bytes), inode: record.identity.inode,
                        creationTime: born), size: record.size, modified: record.modified,
                    permissions: record.permissions, content: record.content,
                    snapshot: record.snapshot, pinTag: record.pinTag,
                    repository: record.repository)
                #expect(try EvictedFile(text: record.text) == record)
            }
        }
    }

    @Test("the name of an attribute reads as it was written, and no other is a record")
    func attributeName() throws {
        let record = try #require(
            EvictionRecord(
                repository: "0123456789abcdef0123", snapshot: "fedcba9876543210fedc", item: 12))
        let name = "user.resval.evicted.0123456789abcdef.fedcba9876543210.12"
        #expect(record.attribute == ExtendedAttributeName(name))
        #expect(EvictionRecord(attribute: Array(name.utf8)) == record)
        #expect(EvictionRecord(among: [Array("user.x".utf8), Array(name.utf8)]) == record)
        for (part, other) in [
            (".12", ".-1"), (".12", ".+1"), (".12", ".012"), (".12", ""), (".12", ".12.1"),
            ("0123456789abcdef", "0123456789ABCDEF"), ("0123456789abcdef", "0123456789abcde"),
            ("0123456789abcdef", "0123456789abcdeg"), ("evicted", "evict"),
        ] {
            let changed = Array(name.replacing(part, with: other).utf8)
            #expect(EvictionRecord(attribute: changed) == nil, "\(other)")
        }
        #expect(EvictionRecord(repository: "0123", snapshot: "fedcba9876543210", item: 0) == nil)
    }

    @Test("a record cut off anywhere is malformed")
    func cutOff() {
        let text = record("file", .evicted).text
        for length in 0..<text.count {
            #expect(throws: MalformedRecord.self) { try EvictedFile(text: Array(text[..<length])) }
        }
    }

    @Test("a record with any byte changed is malformed")
    func changed() {
        let text = record("file", .evicted).text
        for index in text.indices {
            var text = text
            text[index] ^= 1
            #expect(throws: MalformedRecord.self) { try EvictedFile(text: text) }
        }
    }

    @Test("sizes below zero and nanoseconds that no time has are malformed")
    func numbers() {
        let record = record("file", .evicted)
        func expectMalformed(_ size: Int64, _ modified: FileTime, _ remaining: Int64) {
            let other = EvictedFile(
                state: record.state, path: record.path, identity: record.identity, size: size,
                modified: modified, permissions: record.permissions, content: record.content,
                snapshot: record.snapshot, pinTag: record.pinTag, repository: record.repository,
                remainingBytes: remaining, failure: nil)
            #expect(throws: MalformedRecord.self) { try EvictedFile(text: other.text) }
        }
        for number in [-1, Int64.min] {
            expectMalformed(number, record.modified, 0)
            expectMalformed(0, record.modified, number)
        }
        // The last two stand for the present and for no change: utimensat(2).
        for nanoseconds: UInt32 in [1_000_000_000, .max, 0x3FFF_FFFF, 0x3FFF_FFFE] {
            expectMalformed(0, FileTime(seconds: 0, nanoseconds: nanoseconds), 0)
        }
    }

    @Test("the hash alone makes no record: each field must be in its one form")
    func forms() throws {
        let text = String(decoding: record("file", .held).text, as: UTF8.self)
        let body = text[..<(text.firstRange(of: "hash ")?.lowerBound ?? text.endIndex)]
        for (field, other) in [
            ("resval-evicted 1", "resval-evicted 2"), ("state held", "state lost"),
            ("size 9", "size +9"), ("permissions ", "permissions 0"), ("path /", "path "),
            ("path /home", "path %2Fhome"), ("remaining -", "remaining x"), ("inode", "node"),
        ] {
            let changed = Array(body.replacing(field, with: other).utf8)
            #expect(changed != Array(body.utf8))
            let hash = "hash \(SHA256.digest(of: changed))\n"
            #expect(throws: MalformedRecord.self, "\(other)") {
                try EvictedFile(text: changed + Array(hash.utf8))
            }
        }
    }
}
