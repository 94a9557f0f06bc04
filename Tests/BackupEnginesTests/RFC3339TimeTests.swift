import ResourceValues
import Testing

@testable import BackupEngines

@Suite("Reading times")
struct RFC3339TimeTests {
    @Test(
        "a time is read to the nanosecond, whatever its offset",
        arguments: [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("2026-11-21T01:42:30.887820879Z", 1_795_225_350, 887_820_879),
            ("2026-11-21T03:12:30.5+01:30", 1_795_225_350, 500_000_000),
            ("1969-12-31T23:59:59.999999999Z", -1, 999_999_999),
            ("2000-02-29T00:00:00-05:00", 951_800_400, 0),
            ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
        ] as [(String, Int64, UInt32)])
    func valid(text: String, seconds: Int64, nanoseconds: UInt32) {
        #expect(
            FileTime(rfc3339: text.utf8) == FileTime(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(
        "anything else is no time",
        arguments: [
            "", "2026-11-21", "2026-11-21T01:42:30", "2026-13-21T01:42:30Z", "2026-11-21 01:42:30Z",
            "2026-11-21T01:42:30.Z", "2026-11-21T01:42:30Zx",
        ])
    func invalid(text: String) {
        #expect(FileTime(rfc3339: text.utf8) == nil)
    }
}
