import CommandSupport
import Testing

@Suite("Escaping of names")
struct EscapingTests {
    @Test(
        "a name of safe characters is printed as it is",
        arguments: ["plain", "with space", "-dash", "ünïcødé", "日本", "a'b", "a\\b", "$HOME"])
    func safeNames(name: String) {
        #expect(printed(Array(name.utf8)) == name)
    }

    @Test(
        "a name that could drive a terminal or forge a line is escaped",
        arguments: [
            ("a\nb", #"$'a\nb'"#), ("\u{1B}[31m", #"$'\033[31m'"#),
            ("tab\t'q'\\", #"$'tab\t\'q\'\\'"#),
            ("\u{85}", #"$'\302\205'"#), ("a\u{202E}b", #"$'a\342\200\256b'"#),
            ("a\u{200B}b", #"$'a\342\200\213b'"#), ("\u{2028}", #"$'\342\200\250'"#),
            ("\u{7F}", #"$'\177'"#), ("\u{E0041}x", #"$'\363\240\201\201x'"#), ("", "''"),
            ("é\r", #"$'é\r'"#),
        ])
    func unsafeNames(name: String, expected: String) {
        #expect(printed(Array(name.utf8)) == expected)
    }

    @Test("bytes that are not UTF-8 are escaped one by one")
    func invalidBytes() {
        #expect(printed([0xFF, 0x61, 0xC3]) == #"$'\377a\303'"#)
        #expect(printed([0xED, 0xA0, 0x80]) == #"$'\355\240\200'"#)
        #expect(printed([0xC0, 0xAF]) == #"$'\300\257'"#)
    }

    @Test("a name that looks escaped already is escaped, so that no two names look alike")
    func ambiguousName() {
        #expect(printed(Array(#"$'a\nb'"#.utf8)) == #"$'$\'a\\nb\''"#)
    }

    private func printed(_ name: [UInt8]) -> String {
        var buffer = OutputBuffer()
        buffer.append(name: name)
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    @Test("text of a result cannot drive a terminal, and keeps its newlines")
    func results() {
        var buffer = OutputBuffer()
        buffer.append(text: "fuse.\u{1B}[7m\u{202E} é\n")
        #expect(String(decoding: buffer.bytes, as: UTF8.self) == "fuse.\\033[7m\\342\\200\\256 é\n")
    }
}
