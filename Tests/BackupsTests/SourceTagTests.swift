import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Tags that tell a snapshot's SOURCEs")
struct SourceTagTests {
    @Test("every name comes back from tags of plain ASCII without a comma")
    func hostileNames() {
        let sources = HostileNames.all.map { FilePath("/a, b").appending($0) }
        let tags = SourceTags(sources).all
        #expect(tags.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2C } })
        #expect(Set(SourceTags.sources(in: tags)) == Set(sources))
    }

    @Test("the set's tag depends on the set alone, and stays the same between versions")
    func set() {
        let (first, second) = (FilePath("/a"), FilePath("/b"))
        let fingerprint = SourceTags([first]).fingerprint
        #expect(
            SourceTags([first, second]).fingerprint
                == SourceTags([second, first, first]).fingerprint)
        #expect(fingerprint != SourceTags([second]).fingerprint)
        #expect(fingerprint == "cc90a8b902bc364d")
    }

    @Test("a SET, a number and a record's hash count only where one of each is plain")
    func ownTags() {
        let (one, other) = ("0123456789abcdef", "fedcba9876543210")
        let set = SnapshotSet(identifier: one, configuration: other)
        #expect(SnapshotSet(tags: ["x", set.tag, set.tag]) == set)
        for tags in [
            [], ["resval-set=\(one)"], ["resval-set=\(one)-\(other)-\(one)"],
            ["resval-set=\(one)-../../../../../x"], [set.tag, "resval-set=\(other)-\(one)"],
        ] {
            #expect(SnapshotSet(tags: tags) == nil, "\(tags)")
        }
        #expect(NumberTag.number(in: [NumberTag.text(7)]) == 7)
        for text in ["0", "-1", "9223372036854775807", "1000000001", "x", ""] {
            #expect(NumberTag.number(in: ["resval-number=\(text)"]) == nil, "\(text)")
        }
        #expect(NumberTag.number(in: [NumberTag.text(7), NumberTag.text(8)]) == nil)
        let hash = String(repeating: "ab", count: 32)
        #expect(RecordHash.hash(in: [RecordHash.tag(hash)]) == hash)
        for text in [hash.uppercased(), String(hash.dropLast()), "../\(hash)"] {
            #expect(RecordHash.hash(in: [RecordHash.tag(text)]) == nil, "\(text)")
        }
    }

    @Test("a local directory is told from a remote location")
    func locations() {
        for (text, directory) in [
            ("/srv/r", "/srv/r"), ("r", "r"), ("./a:b", "./a:b"), ("local:/srv/r", "/srv/r"),
            ("/a:b", "/a:b"), ("s3:host/bucket", nil), ("sftp:user@host:/r", nil),
        ] as [(String, FilePath?)] {
            #expect(RepositoryLocation(bytes: Array(text.utf8)).directory == directory, "\(text)")
        }
    }

    @Test("a location is shown without the user and the password in it")
    func shownLocations() {
        for (text, shown) in [
            ("rest:http://ada:secret@host:8000/a@b", "rest:http://host:8000/a@b"),
            ("s3:https://host/bucket@x", "s3:https://host/bucket@x"),
            ("sftp:ada@host:/srv/backup", "sftp:host:/srv/backup"),
            ("rest:http://a@b:c@d@host", "rest:http://host"),
            ("/srv/http://a:b@c/d", "/srv/http://a:b@c/d"),
        ] {
            #expect(
                RepositoryLocation(bytes: Array(text.utf8)).shown == Array(shown.utf8),
                "\(text)")
        }
    }

    private static func snapshot(
        _ identifier: String, original: String? = nil, hostName: String = "host",
        userName: String = "user", source: FilePath = "/source", root: String = "root"
    ) -> Snapshot {
        Snapshot(
            identifier: identifier, originalIdentifier: original,
            time: FileTime(seconds: 1, nanoseconds: 0), hostName: hostName, userName: userName,
            allTags: SourceTags([source]).all + [
                SnapshotSet(
                    identifier: "0123456789abcdef",
                    configuration: SourceTags([source]).fingerprint
                ).tag, NumberTag.text(1), RecordHash.tag(String(repeating: "0", count: 64)),
            ], root: root)
    }

    @Test("a copy with other tags replaces its original, and nothing else does")
    func copies() {
        let original = Self.snapshot("1")
        #expect(Self.snapshot("2", original: "1").copied == original.itself)
        for other in [
            Self.snapshot("2"), Self.snapshot("2", original: "3"),
            Self.snapshot("2", original: "1", hostName: "other"),
            Self.snapshot("2", original: "1", userName: "other"),
            Self.snapshot("2", original: "1", source: "/other"),
            Self.snapshot("2", original: "1", root: "other"),
        ] {
            #expect(other.copied != original.itself)
        }
    }

    private func text(_ command: ResticCommand) -> [String] {
        command.arguments(opening: []).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("operands stand behind --, and an option is one word with its value")
    func arguments() {
        let command = ResticCommand(
            "dump", [option("--tag", "--json")], on: words("--password-command=/bin/false"))
        #expect(text(command) == ["dump", "--tag=--json", "--", "--password-command=/bin/false"])
        #expect(text(ResticCommand("prune")) == ["prune"])
    }

    @Test(
        "a record's tag counts only when it names a record by an absolute path that leads down",
        arguments: [
            "--password-command=/usr/bin/touch%20/tmp/resval-record-0", "resval-record-0",
            "/tmp/../home/resval-record-0", "/tmp//resval-record-0", "/tmp/resval-record-0/",
            "/tmp/resval-record-0%00", "/tmp/resval-record-0/..", "/home/ada/.ssh/authorized_keys",
            "/", "",
        ])
    func recordTags(path: String) {
        #expect(RecordPath(tags: ["resval-record=\(path)"], sources: []) == nil)
        let plain = RecordPath(tags: ["resval-record=/tmp/resval-0/resval-record-0"], sources: [])
        #expect(plain?.path == Array("/tmp/resval-0/resval-record-0".utf8))
    }

    @Test("a record hides itself, and no directory that leads to a SOURCE")
    func hiddenDirectories() throws {
        func hides(_ record: String, _ path: String) -> Bool {
            RecordPath(tags: ["resval-record=\(record)"], sources: ["/"])?
                .hides(Array(path.utf8)) == true
        }
        let record = "/tmp/resval-0/resval-record-0"
        #expect(hides(record, record) && !hides(record, "/tmp") && !hides(record, "/tmp/resval-0"))
        let elsewhere = RecordPath(tags: ["resval-record=\(record)"], sources: ["/home"])
        #expect(elsewhere?.hides(Array("/tmp".utf8)) == true)
        #expect(elsewhere?.hides(Array("/tmp/resval-1".utf8)) == false)
        for directory in ["/home/ada", "/home/resval-data", "/tmp"] {
            let other = "\(directory)/resval-record-0"
            #expect(hides(other, other) && !hides(other, directory))
            #expect(!hides(other, "\(directory)/file"))
        }
    }

    @Test("tags of SOURCEs count only when all are plain")
    func sourceTags() {
        for path in ["/a/../b", "a", "--json", "/a//b", "/a%00b", ""] {
            let tags = SourceTags(["/a", "/b"]).all + ["resval-source=\(path)"]
            #expect(SourceTags.sources(in: tags) == [])
        }
        #expect(SourceTags.sources(in: SourceTags(["/"]).all) == ["/"])
    }

    @Test("a snapshot whose identifiers are anything but a SHA-256 is refused")
    func identifiers() throws {
        let good = String(repeating: "0f", count: 32)
        func read(_ identifier: String, _ tree: String) throws -> Snapshot {
            let json =
                #"{"id":"\#(identifier)","tree":"\#(tree)","time":"2026-01-01T00:00:00Z"}"#
            return try Snapshot(json: Array(json.utf8)[...])
        }
        #expect(try read(good, good).identifier == good)
        let fullWidth = String(repeating: "\u{FF10}", count: 64)
        for bad in ["", "--json", "latest", String(good.dropLast()), good + "0", fullWidth] {
            #expect(throws: JSONError.self) { try read(bad, good) }
            #expect(throws: JSONError.self) { try read(good, bad) }
        }
        #expect(SnapshotChoice("\u{FF10}\u{FF10}\u{FF10}\u{FF10}") == nil)
    }

    @Test("the location goes by the environment, and never among the arguments")
    func location() async throws {
        let location = "rest:https://ada:secret@host/"
        let restic = try Restic(
            searchPath: Array("/usr/local/bin:/usr/bin:/bin".utf8),
            repository: RepositoryLocation(bytes: Array(location.utf8)),
            passwordFile: Array("-file".utf8),
            environment: ["RESTIC_REPOSITORY=x"].map { Array($0.utf8) })
        #expect(try await restic.passwordOption() == [Array("--password-file=-file".utf8)])
        let told = restic.environment.variables.filter { $0.starts(with: "RESTIC_REPOSITORY".utf8) }
        #expect(told == [Array("RESTIC_REPOSITORY=\(location)".utf8)])
        let steps = restic.steps(RepositoryDamage([]), packs: ["0123456789abcdef"])
        #expect(steps.count == 1)
        for word in steps.flatMap(\.command) {
            #expect(!String(decoding: word, as: UTF8.self).contains("secret"))
        }
    }

    @Test("a file name in a line of a check names no pack")
    func hostileNamesInChecks() {
        let id = String(repeating: "0f", count: 32)
        let damage = RepositoryDamage([
            #"  tree 12345678: file "pack 01234567 blob \#(id)" blob \#(id.replacing("0", with: "1")) not found in index"#,
            "pack \(id): does not exist",
            "pack \(id.replacing("0", with: "1")) contains 1 errors: [blob x: hash mismatch]",
        ])
        #expect(damage.packs == [id, id.replacing("0", with: "1")])
        #expect(damage.hasIncompletePack)
    }
}
