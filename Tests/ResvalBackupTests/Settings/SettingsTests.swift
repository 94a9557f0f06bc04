import CommandSupport
import SettingsReading
import StoragePolicy
import SystemPackage
import TestSupport
import Testing

@testable import resval_backup

@Suite("The configuration file")
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

    @Test("every setting is read, and becomes the arguments of the commands")
    func everything() throws {
        let settings = try read(
            """
            sources = ["~/Documents", "/srv/a b"]   # two of them
            repository = "tar:~/archives"
            password-file = "~/.config/resval/password"
            markers = ["native", "cachedir"]
            locations = false
            exclude-larger-than = "1.5G"
            tags = ["daily", "home"]
            allow-plaintext = true
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
        func words(_ kind: BackupStep.Kind) -> [String] {
            settings.step(kind).arguments.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(
            settings.variables.map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" }
                == [
                    "RESVAL_BACKUP_REPOSITORY=tar:/home/ada/archives",
                    "RESTIC_PASSWORD_FILE=/home/ada/.config/resval/password",
                ])
        #expect(
            words(.create) == [
                "create", "--json-counts", "--markers", "native,cachedir", "--no-locations",
                "--exclude-larger-than", "1610612736", "--allow-plaintext", "--tag=daily",
                "--tag=home", "--", "/home/ada/Documents", "/srv/a b",
            ])
        #expect(
            words(.forget) == [
                "forget", "--keep-last=3", "--keep-daily=7", "--keep-yearly=-1",
                "--keep-within=1y6m",
                "--keep-tag=important", "--", "/home/ada/Documents", "/srv/a b",
            ])
        #expect(words(.prune) == ["prune"])
        #expect(words(.verify) == ["verify", "--read-data"])
        #expect(settings.verify == .days(30))
        #expect(settings.prune == .days(30))
        #expect(settings.staleAfter == Int64(36 * 3600))
        try #expect(read(shortest + "stale-after = \"never\"").staleAfter == nil)
    }

    @Test("a password or a command goes into the environment, never into arguments")
    func passwords() throws {
        let text = try read(shortest + "password = \"secret\"")
        #expect(text.variables.map(\.name) == ["RESVAL_BACKUP_REPOSITORY", "RESTIC_PASSWORD"])
        #expect(text.variables.last?.value == Array("secret".utf8))
        let command = try read(shortest + "password-command = \"pass show backup\"")
        #expect(command.variables.last?.name == "RESTIC_PASSWORD_COMMAND")
        #expect(command.variables.last?.value == Array("pass show backup".utf8))
        for step in BackupStep.Kind.allCases {
            let arguments = text.step(step).arguments
            #expect(!arguments.contains { String(decoding: $0, as: UTF8.self).contains("secret") })
        }
    }

    @Test(
        "mistakes are named with line and key, and with what is valid",
        arguments: [
            ("surces = 1", 3, "surces is not a setting (valid: sources, repository, password, "),
            (
                "[retention]\nkeep-dayly = 1", 4,
                "retention.keep-dayly is not a setting (valid: keep-"
            ),
            ("[retention]\nkeep-daily = 0", 4, "retention.keep-daily takes a number from 1"),
            ("[retention]\nkeep-within = \"1w\"", 4, "retention.keep-within takes a span such as"),
            ("[retention]\nkeep-within = \"100000d\"", 4, "retention.keep-within takes a span"),
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
            (
                "password = \"a\"\npassword-file = \"/f\"", 4,
                "password-file is given besides password"
            ),
            ("password-file = \"f\"", 3, "password-file takes paths that begin with / or ~/"),
            ("password-file = \"~ada/f\"", 3, "password-file takes paths that begin with / or ~/"),
            ("password = 1234", 3, "password takes text in quotes"),
            ("sources = [", 3, "is not valid TOML"), ("sources = [\"/\"]", 3, "is not valid TOML"),
        ])
    func mistakes(text: String, line: Int, message: String) throws {
        let error = try #require(throws: SettingsError.self) { try read(shortest + text) }
        #expect(error.line == line, "\(error)")
        #expect(error.description.hasPrefix(message), "\(error)")
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
            ("local:~/r", "local:/home/ada/r"), ("tar:/r", "tar:/r"),
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
        let tree = Tree {
            File("open", text).permissions(0o640)
            File("closed", text).permissions(0o600)
            File("harmless", shortest).permissions(0o644)
            File("binary", [0xFF, 0xFE])
            Directory("directory")
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }
}
