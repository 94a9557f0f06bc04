import Testing

@testable import CommandSupport

@Suite("Lines that are wider than a terminal")
struct WrappingTests {
    @Test(
        "are broken between words, and words never",
        arguments: [
            ("", ""), ("  two words", "  two words"), ("exactly ten", "exactly ten"),
            ("one two three four", "one two\n    three\n    four"),
            ("unbreakable-word next", "unbreakable-word\n    next"),
            ("a  (b c d e f)", "a  (b c d e\n    f)"),
        ])
    func wrapping(line: String, expected: String) {
        #expect(wrapped(line, to: 11) == expected)
        #expect(wrapped(line, to: .max) == line)
    }
}
