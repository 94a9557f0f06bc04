import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

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
        #expect(SourceTags([first, second]).set == SourceTags([second, first, first]).set)
        #expect(SourceTags([first]).set != SourceTags([second]).set)
        #expect(SourceTags([first]).set == "resval-sources=cc90a8b902bc364d")
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

    @Test("a location is shown without the user and the password in a URL")
    func shownLocations() {
        for (text, shown) in [
            ("rest:http://ada:secret@host:8000/a@b", "rest:http://host:8000/a@b"),
            ("s3:https://host/bucket@x", "s3:https://host/bucket@x"),
            ("sftp:ada@host:/srv/backup", "sftp:ada@host:/srv/backup"),
            ("rest:http://a@b:c@d@host", "rest:http://host"),
            ("/srv/http://a:b@c/d", "/srv/http://a:b@c/d"),
        ] {
            #expect(
                RepositoryLocation(bytes: Array(text.utf8)).shown == Array(shown.utf8),
                "\(text)")
        }
    }
}
