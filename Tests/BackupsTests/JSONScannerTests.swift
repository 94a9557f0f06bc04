import ResourceValues
import TestSupport
import Testing
import TextFormats

@testable import Backups

@Suite("Reading JSON")
struct JSONScannerTests {
    private func string(_ text: String) throws -> [UInt8] {
        var scanner = JSONScanner(Array(text.utf8)[...])
        return try scanner.string()
    }

    @Test("escapes become bytes, and a byte that was no text is told from a true U+FFFD")
    func strings() throws {
        #expect(
            try string(#""a\n\t\r\b\f\"\\\/\u001b\u00e9""#)
                == Array("a\n\t\r\u{8}\u{c}\"\\/\u{1b}é".utf8))
        #expect(try string(#""\ud83d\ude00""#) == Array("😀".utf8))
        #expect(try string(#""a\ufffdb""#) == [0x61, JSONScanner.lostByte, 0x62])
        #expect(try string("\"a\u{FFFD}b\"") == Array("a\u{FFFD}b".utf8))
        #expect(try string(#""""#) == [])
    }

    @Test(
        "text that is cut off or none of JSON is refused",
        arguments: [
            #""abc"#, #""a\"#, #""\u00"#, #""\ud800x""#,
            #""\udafa\udafa""#, #""\ud83d\u0041""#, #""\ud83d""#, #""\ude00""#, #""\u+123""#,
            #""\u-000""#, "", "abc", "{", #"{"a""#, #"{"a":}"#, #""\x41""#, #""\0""#, "\"a\nb\"",
            "\"a\u{1}b\"", #"{"a":nullable}"#, #"{"a":truefalse}"#, #"{"a":true"b":1}"#,
            #"{"a":"\q"}"#, "{\"a\":\"\u{1f}\"}", #"{"a":01}"#, #"{"a":+1}"#, #"{"a":1.}"#,
            #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":--1}"#, #"{"a":1x}"#, #"{"a":-}"#, #"{"a":nul}"#,
            #"{"a":1}{"#, #"{"a":1},"#, #"{"a":1}]"#, #"{} x"#, #"{"a":1.5.5}"#, #"{"a":1-}"#,
            #"{"a":falsey}"#, #"{"a":null""}"#,
        ])
    func malformed(text: String) {
        #expect(throws: JSONError.self) {
            var scanner = JSONScanner(Array(text.utf8)[...])
            if text.hasPrefix("{") { try scanner.skipValue() } else { _ = try scanner.string() }
        }
    }

    @Test("what is nested up to the limit is read, and what is deeper refused")
    func depth() throws {
        func read(_ depth: Int) throws(JSONError) {
            for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
                let text =
                    String(repeating: open, count: depth) + "1"
                    + String(repeating: close, count: depth)
                var scanner = JSONScanner(Array(text.utf8)[...])
                try scanner.skipValue()
            }
        }
        try read(JSONScanner.depthLimit)
        for depth in [JSONScanner.depthLimit + 1, 1_000_000] {
            #expect(throws: JSONError.self) { try read(depth) }
        }
    }

    @Test("numbers of bytes are never negative, and beyond 64 bits none")
    func amounts() throws {
        func amount(_ text: String) throws -> Int64 {
            var scanner = JSONScanner(Array(text.utf8)[...])
            return try scanner.amount()
        }
        #expect(try amount("0") == 0)
        #expect(try amount("9223372036854775807") == .max)
        for text in ["-1", "-9223372036854775808", "9223372036854775808", "1.0", "1e3"] {
            #expect(throws: JSONError.self) { try amount(text) }
        }
    }

    @Test("fields that nobody reads are passed over, whatever they hold")
    func skipping() throws {
        let text =
            #" { "a" : [1, {"b": "}]\""}, null], "n": -1.5e3, "t": true, "x": {} , "z":"end"}"#
        var scanner = JSONScanner(Array(text.utf8)[...])
        var (names, end): ([String], [UInt8]) = ([], [])
        try scanner.forEachField { scanner, name throws(JSONError) in
            names.append(name)
            if name == "z" { end = try scanner.string() }
        }
        #expect(names == ["a", "n", "t", "x", "z"])
        #expect(end == Array("end".utf8))
    }

    @Test(
        "an array is cut into its elements, however its bytes arrive", arguments: [1, 2, 7, 1000])
    func elements(size: Int) throws {
        let text = #"[{"a":"]}\\\"{["},{"b":[{"c":1}]},[2]]"#
        var elements = JSONElements()
        var found: [String] = []
        for start in stride(from: 0, to: text.utf8.count, by: size) {
            try Array(Array(text.utf8)[start...].prefix(size)).withUnsafeBytes { bytes in
                try elements.append(bytes) { found.append(String(decoding: $0, as: UTF8.self)) }
            }
        }
        #expect(found == [#"{"a":"]}\\\"{["}"#, #"{"b":[{"c":1}]}"#, "[2]"])
        #expect(elements.isComplete)
    }

    @Test("an element without an end is not held beyond a limit, and neither is a line")
    func endless() throws {
        let piece = [UInt8](repeating: 0x20, count: 1 << 20)
        var elements = JSONElements()
        #expect(throws: JSONError.self) {
            try Array("[{".utf8).withUnsafeBytes { try elements.append($0) { _ in } }
            for _ in 0..<65 {
                try piece.withUnsafeBytes { try elements.append($0) { _ in } }
            }
        }
        var lines = Lines(CountedLines(), tooLong: .damagedRecord)
        #expect(throws: BackupError.self) {
            for _ in 0..<17 { try piece.withUnsafeBytes { try lines.receive($0) } }
        }
        #expect(lines.consumer.count == 0)
    }

    @Test("an answer that is nothing at all, or ends more than it began, is no array")
    func incomplete() {
        #expect(!JSONElements().isComplete)
        var elements = JSONElements()
        #expect(throws: JSONError.self) {
            try Array("[]]".utf8).withUnsafeBytes { try elements.append($0) { _ in } }
        }
    }

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

private struct CountedLines: LineConsumer {
    var count = 0

    mutating func receive(line: ArraySlice<UInt8>) { count += 1 }
}
