import Testing

@testable import BackupEngines

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
            #""\u-000""#, "", "abc", "{", #"{"a""#, #"{"a":}"#,
        ])
    func malformed(text: String) {
        #expect(throws: JSONError.self) {
            var scanner = JSONScanner(Array(text.utf8)[...])
            if text.hasPrefix("{") { try scanner.skipValue() } else { _ = try scanner.string() }
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
    func elements(size: Int) {
        let text = #"[{"a":"]}\\\"{["},{"b":[{"c":1}]},[2]]"#
        var elements = JSONElements()
        var found: [String] = []
        for start in stride(from: 0, to: text.utf8.count, by: size) {
            Array(Array(text.utf8)[start...].prefix(size)).withUnsafeBytes { bytes in
                elements.append(bytes) { found.append(String(decoding: $0, as: UTF8.self)) }
            }
        }
        #expect(found == [#"{"a":"]}\\\"{["}"#, #"{"b":[{"c":1}]}"#, "[2]"])
        #expect(elements.isComplete)
    }
}
