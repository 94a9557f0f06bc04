import CommandSupport
import ResourceValues
import Testing

@Suite("Sizes and times as text")
struct ValueTextTests {
    @Test(
        "sizes are read in powers of 1024 and of 1000",
        arguments: [
            ("0", 0), ("4096", 4096), ("1K", 1024), ("1k", 1024), ("3M", 3 << 20), ("2G", 2 << 30),
            ("1T", 1 << 40), ("1KB", 1000), ("2MB", 2_000_000), ("3GB", 3_000_000_000),
            ("4TB", 4_000_000_000_000), ("1.5K", 1536), ("0.5GB", 500_000_000),
            ("9223372036854775807", Int64.max), ("1 K", 1024), ("1B", 1), ("13 B", 13),
            ("1KiB", 1024), ("10.0 MiB", 10 << 20), ("2 GB", 2_000_000_000), ("1TiB", 1 << 40),
        ])
    func sizes(text: String, bytes: Int64) {
        #expect(ByteSize(argument: text)?.bytes == bytes)
    }

    @Test(
        "anything else is no size",
        arguments: [
            "", "-1", "K", "1X", "1  K", "1 ", "1.K", "1.5", "0x10", "1KK", "1.5B", "1iB", "٣",
            "9223372036854775808",
            "9000000T", "1.2.3K", "+1", "B", "1Ki",
        ])
    func noSizes(text: String) {
        #expect(ByteSize(argument: text) == nil)
    }

    @Test(
        "times are written in UTC with nanoseconds",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000000000Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000000001Z"),
            (1_790_000_001, 999_999_999, "2026-09-21T14:13:21.999999999Z"),
            (-1, 5, "1969-12-31T23:59:59.000000005Z"),
            (-62_167_219_200, 0, "0000-01-01T00:00:00.000000000Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59.000000000Z"),
            (.min, 0, "@-9223372036854775808.000000000"),
            (.min, 1, "@-9223372036854775807.999999999"),
            (.max, 999_999_999, "@9223372036854775807.999999999"),
            (253_402_300_800, 0, "@253402300800.000000000"),
        ] as [(Int64, UInt32, String)])
    func times(seconds: Int64, nanoseconds: UInt32, expected: String) {
        #expect(FileTime(seconds: seconds, nanoseconds: nanoseconds).rfc3339 == expected)
    }
}
