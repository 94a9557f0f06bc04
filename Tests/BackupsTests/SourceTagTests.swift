import ResourceValues
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
}
