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
            ("undo: resval undo /a b; or not", "undo:\n    resval undo /a b;\n    or not"),
            ("so (restic unlock)", "so\n    (restic unlock)"),
        ])
    func wrapping(line: String, expected: String) {
        #expect(wrapped(line, to: 11) == expected)
        #expect(wrapped(line, to: .max) == line)
    }

    @Test("are broken where they begin behind a path")
    func start() {
        #expect(wrapped("one two three", to: 12, from: 6) == "one\n    two\n    three")
        #expect(wrapped(" one two", to: 12, from: 10) == "\n    one two")
    }
}
