import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Records of evicted files")
struct RecordTests {
    @Test("the name of an attribute reads as it was written, and no other is a record")
    func attributeName() throws {
        for seconds: Int64 in [1_234_567_890, 0, -5, .min, .max] {
            let time = FileTime(seconds: seconds, nanoseconds: 987_654_321)
            let record = try #require(self.record(permissions: 0o640, time))
            let name = "\(Self.start).640.\(seconds)-987654321"
            #expect(record.attribute == ExtendedAttributeName(name))
            #expect(EvictionRecord(attribute: Array(name.utf8)) == record)
            #expect(EvictionRecord(among: [Array("user.x".utf8), Array(name.utf8)]) == record)
        }
        let name = "\(Self.start).640.12-34"
        try #require(EvictionRecord(attribute: Array(name.utf8)) != nil)
        for (part, other) in [
            (".7.", ".-7."), (".7.", ".+7."), (".7.", ".07."), (".7.", "."), (".7.", ".7.1."),
            ("0123456789abcdef", "0123456789ABCDEF"), ("0123456789abcdef", "0123456789abcde"),
            ("0123456789abcdef", "0123456789abcdeg"), ("evicted", "evict"), ("640", "0640"),
            ("640", "4640"), ("640", "648"), ("640", "-640"), ("12-34", "12"), ("12-34", "-34"),
            ("12-34", "12.34"), ("12-34", "+12-34"), ("12-34", "12-034"), ("12-34", "12--34"),
            ("12-34", "12-1000000000"), ("12-34", "12-34-"), ("12-34", "9223372036854775808-0"),
        ] {
            let changed = Array(name.replacing(part, with: other).utf8)
            #expect(EvictionRecord(attribute: changed) == nil, "\(other)")
        }
        // The last two stand for the present and for no change: utimensat(2).
        for nanoseconds: UInt32 in [1_000_000_000, .max, 0x3FFF_FFFF, 0x3FFF_FFFE] {
            #expect(record(permissions: 0, FileTime(seconds: 0, nanoseconds: nanoseconds)) == nil)
        }
        for permissions: UInt16 in [0o1000, 0o4755, .max] {
            #expect(record(permissions: permissions, FileTime(seconds: 0, nanoseconds: 0)) == nil)
        }
    }

    private static let start = "user.resval.evicted.0123456789abcdef.fedcba9876543210.7"

    private func record(permissions: UInt16, _ modified: FileTime) -> EvictionRecord? {
        EvictionRecord(
            repository: "0123456789abcdef0123", snapshot: "fedcba9876543210fedc", item: 7,
            permissions: permissions, modified: modified)
    }
}
