import Backups
import CommandSupport
import StoragePolicy
import SystemPackage
import TestSupport
import Testing

@testable import resval_backup

@Suite("The configuration file", .cleansUp)
struct SettingsTests {
    private func read(_ text: String) throws(SettingsError) -> BackupSettings {
        try BackupSettings(text, home: "/home/ada")
    }

    private let shortest = """
        sources = ["~"]
        repository = "/mnt/backup"

        """

    @Test("little is needed, and the rest has defaults")
    func defaults() throws {
        let settings = try read(shortest)
        #expect(settings.sources == ["/home/ada"])
        #expect(settings.repository == "/mnt/backup")
        #expect(settings.password == .environment)
        #expect(settings.markers == nil)
        #expect(settings.usesLocations)
        #expect(settings.retention.isEmpty)
        #expect(settings.prune == .never)
        #expect(settings.verify == .days(7))
        #expect(!settings.verifyReadsData)
        #expect(settings.staleAfter == Int64(3 * 86400))
    }

    @Test("every setting is read")
    func everything() throws {
        let settings = try read(
            """
            sources = ["~/Documents", "/srv/a b"]   # two of them
            repository = "local:~/backup"
            password-file = "~/.config/resval/password"
            markers = ["native", "cachedir"]
            locations = false
            exclude-larger-than = "1.5G"
            tags = ["daily", "home"]
            verify = 30
            verify-read-data = true
            prune = "monthly"
            stale-after = "36h"

            [retention]
            keep-last = 3
            keep-daily = 7
            keep-yearly = -1
            keep-within = "1y6m"
            keep-tags = ["important"]
            """)
        #expect(settings.sources == ["/home/ada/Documents", "/srv/a b"])
        #expect(settings.markers == [.native, .cachedir])
        #expect(!settings.usesLocations)
        #expect(settings.largestFile?.bytes == 1_610_612_736)
        #expect(settings.tags == ["daily", "home"])
        #expect(settings.verifyReadsData)
        #expect(settings.retention.counts == [.last: 3, .daily: 7, .yearly: -1])
        #expect(settings.retention.spans == [.last: CalendarSpan("1y6m")])
        #expect(settings.retention.tags == [["important"]])
        #expect(settings.repository == "local:/home/ada/backup")
        #expect(settings.password == .file("/home/ada/.config/resval/password"))
        #expect(settings.verify == .days(30))
        #expect(settings.prune == .days(30))
        #expect(settings.staleAfter == Int64(36 * 3600))
        try #expect(read(shortest + "stale-after = \"never\"").staleAfter == nil)
    }

    @Test("what setup writes is read back as it is, and what no setting can contain is refused")
    func draft() throws {
        var draft = SetupDraft(isSystem: true)
        draft.repository = "/r"
        draft.sources = ["/a\nb\t\"c\\d"]
        #expect(try draft.settings().sources == ["/a\nb\t\"c\\d"])
        draft.sources = ["/a\rb"]
        #expect(throws: (any Error).self) { try draft.settings() }
    }

    @Test("a password goes into the environment, in place of all others")
    func passwords() throws {
        func environment(_ setting: String) throws -> [String] {
            let inherited = [
                "PATH=/bin", "RESTIC_PASSWORD=a", "RESTIC_PASSWORD_FILE=/b",
                "RESTIC_PASSWORD_COMMAND=c",
            ]
            return try read(shortest + setting)
                .environment(replacingIn: inherited.map { Array($0.utf8) })
                .map { String(decoding: $0, as: UTF8.self) }
        }
        try #expect(
            environment("password = \"secret\"") == ["PATH=/bin", "RESTIC_PASSWORD=secret"])
        try #expect(
            environment("password-command = \"pass show backup\"")
                == ["PATH=/bin", "RESTIC_PASSWORD_COMMAND=pass show backup"])
        try #expect(
            environment("password-file = \"/file\"")
                == ["PATH=/bin", "RESTIC_PASSWORD_FILE=/file"])
        try #expect(environment("").count == 4)
    }

    /// What is no TOML, each in one line.
    private static let malformed = [
        "[.retention]", "[=]", "[[[x", "[[retention]]", "[", "[]", "[a", "[a]]", "[a] b", "[a.]",
        "=", "= 1", "tags", "tags =", "tags = ]", "tags = [", "tags = [1", "tags = [,]",
        "tags = [1 2]", "tags = {", "tags = { a = 1", "tags = { a = 1,", "tags = yes",
        "tags = \"a", "tags = 'a", "tags = \"\\q\"", "tags = \"\\ud800\"", "tags = \"\\u12\"",
        "tags = \"a\" b", "tags = 01", "tags = 9223372036854775808", "tags = 1__0",
        "tags = ++1", "tags = \u{1}", "tags = \"\u{1}\"", "# \u{7f}", "tags.a = 1\rtags.c = 2",
        "tags.a.b = 1 = 2", "tags = \"\"\"a", "tags = '''a''", "\"\" =", "retention.a = 1 1",
        "\u{e9} = 1", "tags = " + String(repeating: "[", count: 100_000),
        String(repeating: "a.", count: 100_000) + "a = 1",
    ]

    /// A key that is there twice, a value that its key does not take, and any other form of TOML.
    private static let refused = [
        "[retention]\nkeep-last = 1\n[retention]", "[retention]\nkeep-last = 1\nkeep-last = 2",
        "[retention]\n[sources]", "tags = 1.5", "tags = 2026-01-31", "prune = 1e3",
        "locations = \"true\"", "[retention.keep-last]", "[tags]\na = 1",
        "retention.keep-last = 3", "retention . 'keep-last' = 3", "retention = {}",
        "retention = { keep-last = 3 }", "[[retention]]", "prune = 0x10", "prune = 1_0",
        "prune = 007", "tags = \"\"\"a\"\"\"", "tags = '''a'''", "tags = [[\"a\"]]",
        "tags = [\"\"\"a\"\"\"]", "tags = \"a\\\nb\"", "tags = inf",
    ]

    private static let mistakes: [(text: String, line: Int?, message: String)] = [
        ("surces = 1", 3, "surces is not a setting (valid: sources, repository, password, "),
        ("[retention]\nkeep-dayly = 1", 4, "retention.keep-dayly is not a setting (valid: keep-"),
        ("[retention]\nkeep-daily = 0", 4, "retention.keep-daily takes a number from 1"),
        ("[retention]\nkeep-within = \"1w\"", 4, "retention.keep-within takes a span such as"),
        ("[retention]\nkeep-within = \"100000d\"", 4, "retention.keep-within takes a span"),
        ("[retention]\nkeep-tags = [\",\"]", 4, "retention.keep-tags has an empty tag"),
        ("retention = 3", 3, "retention is a table"),
        ("markers = [\"native\", \"apfel\"]", 3, "markers has no mark 'apfel' (valid: native,"),
        ("markers = []", 3, "markers names at least one mark"),
        ("markers = \"native\"", 3, "markers takes a list of texts"),
        ("locations = \"no\"", 3, "locations takes true or false"),
        ("exclude-larger-than = \"big\"", 3, "exclude-larger-than takes a size"),
        ("tags = [\"a,b\"]", 3, "tags has a tag that contains a comma or begins"),
        ("tags = [\"a,\u{301}b\"]", 3, "tags has a tag that contains a comma or begins"),
        ("tags = [\"resval-\u{301}\"]", 3, "tags has a tag that contains a comma or begins"),
        ("verify = \"hourly\"", 3, "verify takes \"always\", \"daily\""),
        ("verify = 0", 3, "verify takes \"always\", \"daily\""),
        ("stale-after = 3", 3, "stale-after takes an age such as"),
        ("stale-after = \"0\"", 3, "stale-after takes an age such as"),
        ("stale-after = \"weekly\"", 3, "stale-after takes an age such as"),
        ("password = \"a\"\npassword-file = \"/f\"", 4, "password-file is given besides password"),
        ("password-file = \"f\"", 3, "password-file takes paths that begin with / or ~/"),
        ("password-file = \"~ada/f\"", 3, "password-file takes paths that begin with / or ~/"),
        ("password = 1234", 3, "password takes text in quotes"),
        ("sources = [", 3, "is not valid TOML"), ("sources = [\"/\"]", 3, "is not valid TOML"),
        ("tags = [\"a\",\n\n", 3, "is not valid TOML: a list has no closing bracket"),
        ("tags = [\r\n\r\n'a',\r\n\r\n'b'\r\n]\r\nwrong = 1", 9, "wrong is not a setting"),
    ]

    @Test(
        "a mistake is named with its line, whatever ends lines, with the key and with what is valid",
        arguments: mistakes + malformed.map { ($0, 3, "") } + refused.map { ($0, nil, "") })
    func mistake(text: String, line: Int?, message: String) throws {
        for ending in ["\n", "\r\n"] {
            let before = shortest.split(separator: "\n").map { $0 + ending }.joined()
            let error = try #require(throws: SettingsError.self) { try read(before + text) }
            if let line { #expect(error.line == line, "\(error)") }
            #expect(error.description.hasPrefix(message), "\(error)")
        }
    }

    @Test("sources and repository have to be there")
    func missing() {
        #expect(throws: SettingsError.self) { try read("") }
        #expect(throws: SettingsError.self) { try read("sources = []\nrepository = \"/r\"") }
        #expect(throws: SettingsError.self) { try read("sources = [\"~\"]") }
        #expect(throws: SettingsError.self) {
            try BackupSettings("sources = [\"~\"]\nrepository = \"/r\"", home: nil)
        }
    }

    @Test(
        "a repository is a directory, or whatever restic knows",
        arguments: [
            ("~/r", "/home/ada/r"), ("/r:x", "/r:x"), ("s3:host/bucket", "s3:host/bucket"),
            ("sftp:me@host:/r", "sftp:me@host:/r"), ("rest:https://host/", "rest:https://host/"),
            ("local:~/r", "local:/home/ada/r"),
        ])
    func repositories(text: String, location: String) throws {
        let settings = try read("sources = [\"~\"]\nrepository = \"\(text)\"")
        #expect(settings.repository == location)
    }

    @Test("what is done from time to time is due after so many days, and when clocks were set back")
    func intervals() {
        let (now, day): (Int64, Int64) = (1_800_000_000, 86400)
        #expect(Interval.days(7).isDue(last: nil, now: now))
        #expect(!Interval.days(7).isDue(last: now - 6 * day, now: now))
        #expect(Interval.days(7).isDue(last: now - 7 * day + 60, now: now))
        #expect(Interval.days(7).isDue(last: now + day, now: now))
        #expect(Interval.days(0).isDue(last: now, now: now))
        #expect(!Interval.never.isDue(last: nil, now: now))
    }

    @Test("a file with a password that others may read is refused")
    func openFile() throws {
        let text = shortest + "password = \"secret\"\n"
        let root = try temporaryDirectory {
            File("open", text).permissions(0o640)
            File("closed", text).permissions(0o600)
            File("harmless", shortest).permissions(0o644)
            File("binary", [0xFF, 0xFE])
            Directory("directory")
        }
        let error = try #require(throws: SettingsError.self) {
            try BackupSettings.read(root.appending("open"))
        }
        #expect(error.line == 3)
        #expect(error.description.contains("chmod 600"))
        #expect(throws: Never.self) { try BackupSettings.read(root.appending("closed")) }
        #expect(throws: Never.self) { try BackupSettings.read(root.appending("harmless")) }
        #expect(throws: SettingsError.self) {
            try BackupSettings.read(root.appending("binary"))
        }
        for name in ["directory", "absent"] {
            #expect(throws: (any Error).self) {
                try BackupSettings.read(root.appending(name))
            }
        }
    }

    @Test("the help of run names every key")
    func help() throws {
        let help = try Command(.built("resval-backup"), "run", "--help").runSuccessfully()
        for key in SettingsKey.allCases { #expect(help.contains(key.rawValue)) }
    }

    @Test("what settings need of TOML is read as TOML means it")
    func forms() throws {
        let settings = try read(
            """
            \u{feff}# a comment
            sources = [ # one
              '~/a\\b', "/c\\"d", # two
              "/é😀\\t",
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
}
