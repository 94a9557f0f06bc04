import ResourceValues
import SystemPackage
import Testing

@testable import Backups

@Suite("Copies of snapshots with other tags")
struct TaggedSnapshotTests {
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
