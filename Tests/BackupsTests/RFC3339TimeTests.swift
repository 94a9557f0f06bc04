import SystemCalls
import TestSupport
import Testing

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
            ("2016-12-31T23:59:60Z", 1_483_228_800, 0),
            ("2026-11-21T23:59:59+23:59", 1_795_219_259, 0),
            ("@-9223372036854775808.000000000", .min, 0),
            ("@-1.500000000", -2, 500_000_000), ("@9223372036854775807.000000001", .max, 1),
        ] as [(String, Int64, UInt32)])
    func valid(text: String, seconds: Int64, nanoseconds: UInt32) {
        #expect(
            FileTime(rfc3339: text.utf8) == FileTime(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(
        "anything else is no time",
        arguments: [
            "", "2026-11-21", "2026-11-21T01:42:30", "2026-13-21T01:42:30Z", "2026-11-21 01:42:30Z",
            "2026-11-21T01:42:30.Z", "2026-11-21T01:42:30Zx", "2026-11-21T99:99:99Z",
            "2026-11-21T24:00:00Z", "2026-11-21T23:60:00Z", "2026-11-21T23:59:61Z",
            "2026-02-31T00:00:00Z", "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
            "2026-11-21T00:00:00+24:00", "2026-11-21T00:00:00+00:60", "+10000-01-01T00:00:00Z",
            "@", "@1", "@1.5", "@+1.000000000", "@9223372036854775808.000000000",
            "@-9223372036854775808.000000001", "@--1.000000000", "@1.0000000000", "@.000000000",
        ])
    func invalid(text: String) {
        #expect(FileTime(rfc3339: text.utf8) == nil)
    }

    @Test("every time that a file can have is read back as it was written")
    func roundTrip() throws {
        let edges: [Int64] = [
            .min, .min + 1, -62_167_219_201, -62_167_219_200, -62_167_219_199, -86_401, -86_400, -1,
            0, 1, 1 << 34, 253_402_300_799, 253_402_300_800, 1 << 55, .max - 1, .max,
        ]
        var numbers = SeededNumbers(seed: 1)
        let random = (0..<5000).map { _ in
            // As many short numbers as long ones.
            Int64.random(in: .min ... .max, using: &numbers)
                >> Int64.random(in: 0..<63, using: &numbers)
        }
        for seconds in edges + random {
            for nanoseconds: UInt32 in [0, 1, 500_000_000, 999_999_999] {
                let time = FileTime(seconds: seconds, nanoseconds: nanoseconds)
                if FileTime(rfc3339: time.rfc3339.utf8) != time {
                    Issue.record("\(time) is written as \(time.rfc3339)")
                }
            }
        }
    }
}
