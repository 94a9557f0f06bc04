import SystemCalls
import Testing

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

    @Test("objects are found in the arrays of objects in an array, one by one")
    func innerElements() throws {
        let text = #"[{"s":["{"],"a":[{"x":[{}]},{"y":1}],"b":null},{"a":[{"z":"]}"}]}]"#
        var elements = JSONElements(level: 3)
        var found: [String] = []
        try Array(text.utf8).withUnsafeBytes { bytes in
            try elements.append(bytes) { found.append(String(decoding: $0, as: UTF8.self)) }
        }
        #expect(found == [#"{"x":[{}]}"#, #"{"y":1}"#, #"{"z":"]}"}"#])
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
}

private struct CountedLines: LineConsumer {
    var count = 0

    mutating func receive(line: ArraySlice<UInt8>) { count += 1 }
}
