import Backups
import CommandSupport
import StoragePolicy
import SystemPackage
import Testing

@testable import resval_backup

@Suite("The text of the configuration file")
struct SettingsTextTests {
    private func read(_ text: String) throws(SettingsError) -> BackupSettings {
        try BackupSettings(text, home: "/home/ada")
    }

    private let shortest = "sources = [\"~\"]\nrepository = \"/mnt/backup\"\n"

    @Test(
        "whatever is mistyped is named with its line, also where lines end as on other systems",
        arguments: [
            "[.retention]", "[=]", "[[[x", "[[retention]]", "[", "[]", "[a", "[a]]", "[a] b",
            "[a.]",
            "=", "= 1", "tags", "tags =", "tags = ]", "tags = [", "tags = [1", "tags = [,]",
            "tags = [1 2]", "tags = {", "tags = { a = 1", "tags = { a = 1,", "tags = yes",
            "tags = \"a", "tags = 'a", "tags = \"\\q\"", "tags = \"\\ud800\"", "tags = \"\\u12\"",
            "tags = \"a\" b", "tags = 01", "tags = 9223372036854775808", "tags = 1__0",
            "tags = ++1", "tags = \u{1}", "tags = \"\u{1}\"", "# \u{7f}", "tags.a = 1\rtags.c = 2",
            "tags.a.b = 1 = 2", "tags = \"\"\"a", "tags = '''a''", "\"\" =", "retention.a = 1 1",
            "\u{e9} = 1", "tags = " + String(repeating: "[", count: 100_000),
            String(repeating: "a.", count: 100_000) + "a = 1",
        ])
    func malformed(text: String) throws {
        for ending in ["\n", "\r\n"] {
            let before = shortest.split(separator: "\n").map { $0 + ending }.joined()
            let error = try #require(throws: SettingsError.self) { try read(before + text) }
            #expect(error.line == 3, "\(error)")
        }
    }

    @Test("lines are counted whatever ends them, and within a value")
    func lines() throws {
        let error = try #require(throws: SettingsError.self) {
            try read(shortest + "tags = [\r\n\r\n'a',\r\n\r\n'b'\r\n]\r\nwrong = 1")
        }
        #expect(error.line == 9, "\(error)")
    }

    @Test("what settings need of TOML is read as TOML means it")
    func forms() throws {
        let settings = try read(
            """
            \u{feff}# a comment
            sources = [ # one
              '~/a\\b', "/c\\"d", # two
              "/\\u00e9\\U0001F600\\t",
            ]
            "repository" = "/r/s"
            prune = 16
            verify = +30
            [ 'retention' ] # with blanks
            keep-last = 3
            keep-yearly = -1
            keep-tags = ['it"s', ]
            """)
        #expect(settings.sources == ["/home/ada/a\\b", "/c\"d", "/é😀\t"])
        #expect(settings.repository == "/r/s")
        #expect(settings.prune == .days(16))
        #expect(settings.verify == .days(30))
        #expect(settings.retention.counts == [.last: 3, .yearly: -1])
        #expect(settings.retention.tags == [["it\"s"]])
    }

    @Test(
        "a key there twice, a value that a key does not take, and any other form of TOML are refused",
        arguments: [
            "[retention]\nkeep-last = 1\n[retention]", "[retention]\nkeep-last = 1\nkeep-last = 2",
            "[retention]\n[sources]", "tags = 1.5", "tags = 2026-01-31", "prune = 1e3",
            "locations = \"true\"", "[retention.keep-last]", "[tags]\na = 1",
            "retention.keep-last = 3", "retention . 'keep-last' = 3", "retention = {}",
            "retention = { keep-last = 3 }", "[[retention]]", "prune = 0x10", "prune = 1_0",
            "prune = 007", "tags = \"\"\"a\"\"\"", "tags = '''a'''", "tags = [[\"a\"]]",
            "tags = [\"\"\"a\"\"\"]", "tags = \"a\\\nb\"", "tags = inf",
        ])
    func refused(text: String) {
        #expect(throws: SettingsError.self) { try read(shortest + text) }
    }
}
