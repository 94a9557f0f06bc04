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
        let tags = SnapshotTags(sources: sources).texts
        #expect(tags.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2C } })
        #expect(Set(SnapshotTags(tags).sources) == Set(sources))
    }

    @Test("the set's tag depends on the set alone, and stays the same between versions")
    func set() {
        let (first, second) = (FilePath("/a"), FilePath("/b"))
        let fingerprint = SnapshotTags.fingerprint(of: [first])
        #expect(
            SnapshotTags.fingerprint(of: [first, second])
                == SnapshotTags.fingerprint(of: [second, first, first]))
        #expect(fingerprint != SnapshotTags.fingerprint(of: [second]))
        #expect(fingerprint == "cc90a8b902bc364d")
    }

    @Test("a SET, a number and a record's hash count only where one of each is plain")
    func ownTags() {
        let (one, other) = ("0123456789abcdef", "fedcba9876543210")
        let set = SnapshotSet(identifier: one, configuration: other)
        let hash = String(repeating: "ab", count: 32)
        let whole = SnapshotTags(sources: ["/s"], set: set, number: 7, recordHash: hash)
        #expect(SnapshotTags(["x"] + whole.texts + whole.texts) == whole)
        for tags in [
            [], ["resval-set=\(one)"], ["resval-set=\(one)-\(other)-\(one)"],
            ["resval-set=\(one)-../../../../../x"], [set.tag, "resval-set=\(other)-\(one)"],
        ] {
            #expect(SnapshotTags(tags).set == nil, "\(tags)")
        }
        for text in ["0", "-1", "9223372036854775807", "1000000001", "x", ""] {
            #expect(SnapshotTags(["resval-number=\(text)"]).number == nil, "\(text)")
        }
        #expect(SnapshotTags(["resval-number=7", "resval-number=8"]).number == nil)
        for text in [hash.uppercased(), String(hash.dropLast()), "../\(hash)"] {
            #expect(SnapshotTags(["resval-record-hash=\(text)"]).recordHash == nil, "\(text)")
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
            allTags: SnapshotTags(
                sources: [source],
                set: SnapshotSet(
                    identifier: "0123456789abcdef",
                    configuration: SnapshotTags.fingerprint(of: [source])),
                number: 1, recordHash: String(repeating: "0", count: 64)
            ).texts, root: root)
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
