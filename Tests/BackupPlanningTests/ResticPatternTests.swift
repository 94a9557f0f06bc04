import SystemPackage
import TestSupport
import Testing

@testable import BackupPlanning

@Suite("A restic pattern")
struct ResticPatternTests {
    private static let newline = "[^\u{1}-\u{9}\u{B}-\u{10FFFF}]"

    private static let files: [(FileName, [UInt8])] = [
        (HostileNames.newline, Array("new\(newline)line".utf8)),
        (HostileNames.trailingNewline, Array("trailing newline\(newline)".utf8)),
        (HostileNames.carriageReturn, Array("carriage\rreturn".utf8)),
        (HostileNames.trailingCarriageReturn, Array("trailing carriage return[\r]".utf8)),
        (HostileNames.tab, Array("tab\tstop".utf8)),
        (HostileNames.leadingSpace, Array(" leading space".utf8)),
        (HostileNames.trailingSpace, Array("trailing space[ ]".utf8)),
        (HostileNames.onlySpace, Array("[ ]".utf8)),
        (HostileNames.leadingDash, Array("-rf".utf8)),
        (HostileNames.directoryOption, Array("-C".utf8)),
        (HostileNames.hash, Array("# comment".utf8)),
        (HostileNames.semicolon, Array("; comment".utf8)),
        (HostileNames.globs, Array(#"\*\?\[a-z]{b,c}\\"#.utf8)),
        (HostileNames.backslash, Array(#"back\\slash\\n\\x41\\101"#.utf8)),
        (HostileNames.dollar, Array("$$HOME $${HOME} $$$$ `id` $$(id)".utf8)),
        (HostileNames.quotes, HostileNames.quotes.bytes),
        (HostileNames.includeRule, Array(#"+ \*\*"#.utf8)),
        (HostileNames.notUTF8, HostileNames.notUTF8.bytes),
        (HostileNames.escapeSequence, Array("\u{1B}\\[31mred\u{1B}]0;title\u{07}".utf8)),
        (HostileNames.longest, HostileNames.longest.bytes),
        ("next line\u{85}", Array("next line[\u{85}]".utf8)),
        ("no-break\u{A0}", Array("no-break[\u{A0}]".utf8)),
        ("ogham\u{1680}", Array("ogham[\u{1680}]".utf8)),
        ("en quad\u{2000}", Array("en quad[\u{2000}]".utf8)),
        ("line\u{2028}", Array("line[\u{2028}]".utf8)),
        ("ideographic\u{3000}", Array("ideographic[\u{3000}]".utf8)),
        ("zero width\u{200B}", Array("zero width\u{200B}".utf8)),
        ("vertical\u{B}", Array("vertical[\u{B}]".utf8)),
        ("two  ", Array("two [ ]".utf8)),
        ("end$", Array("end$$".utf8)),
        (FileName([0x61, 0x85]), [0x61, 0x85]),
        (FileName([0xC2, 0xC2, 0x85]), [0xC2, 0x5B, 0xC2, 0x85, 0x5D]),
    ]

    @Test("matches one file", arguments: files)
    func file(name: FileName, expected: [UInt8]) {
        let pattern = ResticPattern(matching: FilePath("/s").appending(name))
        #expect(pattern.line == Array("/s/".utf8) + expected)
    }

    @Test("matches what is in a directory, whose end is then protected by the slash")
    func directory() {
        let path = FilePath("/s").appending("a* \n ")
        let pattern = ResticPattern(contentsOf: path)
        #expect(pattern.line == Array("/s/a\\* \(Self.newline) /*".utf8))
        #expect(ResticPattern(contentsOf: "/").line == Array("/*".utf8))
    }

    @Test("is never as long as restic's longest line")
    func longest() {
        let path = "/" + String(repeating: "\n", count: 4094)
        #expect(ResticPattern(matching: FilePath(path)).line.count < 65_536)
    }
}
