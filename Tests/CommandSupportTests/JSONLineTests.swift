import CommandSupport
import ResourceValues
import Testing

@Suite("JSON lines")
struct JSONLineTests {
    @Test("fields keep their order and types")
    func fields() {
        var line = JSONLine()
        line.add("text", "a\"b\\c\n\t\r")
        line.add("number", -5)
        line.add("yes", true)
        line.add("none", String?.none)
        line.add("time", FileTime(seconds: 0, nanoseconds: 7))
        line.add("object") { $0.add("inner", 1) }
        line.add("list", objects: [1, 2]) { item, object in object.add("n", item) }
        line.add("names", strings: ["x", "y"])
        line.add("numbers", numbers: [1, -2])
        #expect(
            text(line) == #"""
                {"text":"a\"b\\c\n\t\r","number":-5,"yes":true,"none":null,\#
                "time":"1970-01-01T00:00:00.000000007Z","object":{"inner":1},\#
                "list":[{"n":1},{"n":2}],"names":["x","y"],\#
                "numbers":[1,-2]}

                """#)
    }

    @Test("characters that could drive a terminal are escaped, without loss")
    func unsafeCharacters() {
        var line = JSONLine()
        line.add("path", "\u{1B}\u{9B}\u{202E}\u{E0041}é😀\u{0}")
        #expect(text(line) == #"{"path":"\u001b\u009b\u202e\udb40\udc41é😀\u0000"}"# + "\n")
    }

    @Test("a path that is not UTF-8 is null, with its bytes in base 64 beside it")
    func invalidPaths() {
        let samples: [([UInt8], String)] = [
            ([0xFF], "/w=="), ([0xFF, 0x61], "/2E="), ([0xFF, 0x61, 0x0A], "/2EK"),
            ([0xFF, 0xFE, 0xFB, 0xEF], "//777w=="),
        ]
        for (path, base64) in samples {
            var line = JSONLine()
            line.add(path: path)
            #expect(text(line) == #"{"path":null,"pathBase64":"\#(base64)"}"# + "\n")
        }
    }

    private func text(_ line: consuming JSONLine) -> String {
        String(decoding: line.ended(), as: UTF8.self)
    }
}
