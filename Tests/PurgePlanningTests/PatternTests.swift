import EffectiveValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Patterns of what is kept")
struct PatternTests {
    @Test(
        "match as a shell's, and rather more",
        arguments: [
            ("abc", "abc", true), ("abc", "abcd", false), ("abc", "ab", false), ("*", "", true),
            ("*", ".hidden", true), ("a*c", "ac", true), ("a*c", "abbbc", true),
            ("a*c", "abcd", false), ("a**b", "axb", true), ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false), ("?", "x", true), ("?", "é", true), ("?", "", false),
            ("?", "xy", false), ("[abc]", "b", true), ("[a-c]x", "bx", true), ("[a-c]", "d", false),
            ("[!a-c]", "d", true), ("[^a]", "a", false), ("[a]", "é", true), ("[]]", "]", true),
            ("[a", "[a", true), ("a\\*", "a*", true), ("a\\*", "ab", false), ("", "", true),
            ("", "a", false), ("a\\", "a\\", true), ("keyring-*", "keyring-x", true),
        ])
    func names(_ pattern: String, _ name: String, _ isMatch: Bool) {
        #expect(NamePattern(pattern.utf8).matches(Array(name.utf8)) == isMatch)
    }

    private func match(_ lines: String, _ path: FilePath) -> KeptPaths.Match? {
        let kept = KeptPaths(TemporaryFilesLine.lines(in: Array(lines.utf8)))
        let (position, _) = kept.position(of: path.removingLastComponent())
        return kept.step(from: position, to: Array((path.lastComponent?.string ?? "").utf8)).0
    }

    @Test("of tmpfiles.d are those of its lines x and X")
    func lines() {
        #expect(match("x /tmp/keep", "/tmp/keep") == .whole)
        #expect(match("X /tmp/keep", "/tmp/keep") == .itself)
        #expect(match("X /tmp/keep\nx /tmp/k*", "/tmp/keep") == .whole)
        #expect(match("x! /tmp/keep - - - -", "/tmp/keep") == .whole)
        #expect(match("d /tmp/keep 0755", "/tmp/keep") == .whole)
        #expect(match("f! /var/tmp/keep - - -", "/var/tmp/keep") == .whole)
        #expect(match("d /tmp/keep 0755 root root 3d", "/tmp/keep") == .aged(259_200))
        #expect(match("e /tmp/keep - - - ~aBm:1h30min", "/tmp/keep") == .aged(5400))
        #expect(match("e /tmp/k* - - - 1w\nd /tmp/keep - - - 2d", "/tmp/keep") == .aged(604_800))
        #expect(match("e /tmp/keep - - - soon", "/tmp/keep") == .whole)
        #expect(match("e /tmp/keep - - - 1d\nX /tmp/keep", "/tmp/keep") == .aged(86_400))
        #expect(match("d /home/keep - - - 1d\nq /var\nd /var/lib/x", "/var/lib/x") == nil)
        #expect(match("? /tmp/keep", "/tmp/keep") == nil)
        #expect(match("# x /tmp/keep", "/tmp/keep") == nil)
        #expect(match("x /tmp/keep", "/tmp/keep/below") == nil)
        #expect(match("x /tmp/*/keep", "/tmp/a/keep") == .whole)
        #expect(match("x /tmp/*/keep", "/tmp/a/b/keep") == nil)
        #expect(match("x \"/tmp/two words\"", "/tmp/two words") == .whole)
        #expect(match(#"x /tmp/two\x20words"#, "/tmp/two words") == .whole)
        #expect(match(#"x /tmp/a\*"#, "/tmp/ab") == nil)
        #expect(match("x relative/path", "/tmp/relative/path") == nil)
    }

    @Test("of tmpfiles.d with a specifier match whatever it may stand for")
    func specifiers() {
        #expect(match("x /tmp/private-%b-*", "/tmp/private-3c19-x") == .whole)
        #expect(match("x %h/.cache/keep", "/home/u/.cache/keep") == .whole)
        #expect(match("x %T/keep", "/tmp/keep") == .whole)
        #expect(match("x %T/keep", "/tmp/other") == nil)
        #expect(match("x /tmp/100%%", "/tmp/100%") == .whole)
    }

    @Test("of tmpfiles.d say of a path whether it lies in what stays whole")
    func positions() {
        let kept = KeptPaths(TemporaryFilesLine.lines(in: Array("x /tmp/keep".utf8)))
        #expect(kept.position(of: "/tmp/keep/below").isKept)
        #expect(!kept.position(of: "/tmp/other").isKept)
        #expect(kept.position(of: "/home").0.isEmpty)
        #expect(!kept.position(of: "/tmp").0.isEmpty)
    }
}
