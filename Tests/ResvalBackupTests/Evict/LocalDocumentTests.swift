import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// The functions of Apple's storage guide for documents whose content is stored elsewhere, with a real
/// repository in place of iCloud.
@Suite("Documents that a program removes and fetches", .cleansUp)
struct LocalDocumentTests {
    @Test("a document that the newest snapshot contains is evicted, and fetched when it is needed")
    func removeAndFetch() throws {
        let backup = try backup(of: documents)
        let file = backup("file")
        #expect(try backup.document("remove", file) == "kept")
        #expect(try backup.document("fetch", file) == "fetched")
        try backup.createFromSettledFiles()
        #expect(try backup.document("fetch", file) == "present")
        #expect(try backup.document("remove", file) == "evicted")
        #expect(try isPlaceholder(file))
        #expect(try backup.document("remove", file) == "kept")
        #expect(try backup.document("fetch", file) == "fetched")
        #expect(try contentsOfFile(file) == evictableContent)
    }

    @Test("nothing is recorded of a document that changed, or is not in the snapshot")
    func changes() throws {
        let names = ["rewritten", "same-size", "renamed", "marked", "replaced", "excluded", "kept"]
        let backup = try backup {
            for name in names where name != "excluded" {
                File("\(name)", evictableContent)
            }
            File("excluded", evictableContent).excluded()
            Directory("directory")
            SymbolicLink("link", to: "kept")
        }
        try backup.createFromSettledFiles()
        let script = """
            cd "$1"
            echo more >> rewritten
            cp -p same-size stamp
            printf x | dd of=same-size conv=notrunc status=none
            touch -r stamp same-size
            mv renamed new-name
            setfattr -n user.comment -v x marked
            cp -p replaced copy && mv copy replaced
            """
        #expect(try backup.script(script, backup.source).exitCode == 0)
        for name in names + ["new-name", "stamp", "directory", "link"] where name != "renamed" {
            let value = try backup.isUploaded(backup.source.appending(name))
            #expect(value == (name == "kept" ? "true" : "nil"), "\(name)")
        }
    }

    @Test("a file that changed just before the backup, and so perhaps during it, is not recorded")
    func recentChange() throws {
        let backup = try backup(of: documents)
        try backup.createFromSettledFiles()
        try tool("sh", "-c", "echo new > \"$0\"", backup("other"))
        try backup.create()
        #expect(try backup.isUploaded(backup("other")) == "nil")
        #expect(try backup.isUploaded(backup("file")) == "true")
    }

    @Test("nothing is recorded of a file that is read while it changes, or was not stored")
    func unstored() throws {
        let backup = try backup(of: documents, user: 1234)
        let file = backup("file")
        try tool("chown", "-R", "1234:1234", backup.source)
        try tool("chown", "0:0", file)
        try tool("chmod", "600", file)
        sleep(3)
        try backup.create(exits: 3)
        try tool("chmod", "644", file)
        #expect(try backup.isUploaded(file) == "nil")
        #expect(try backup.isUploaded(backup("other")) == "true")
    }

    @Test("a snapshot that is removed, by this program or by restic, is not believed in any more")
    func removedSnapshot() throws {
        let backup = try backup(of: documents)
        let file = backup("file")
        try backup.createFromSettledFiles()
        let first = try #require(backup.snapshotIdentifiers().first)
        #expect(try backup.isUploaded(file) == "true")
        try backup.restic("forget", first)
        #expect(try backup.isUploaded(file) == "nil")
        // That it is gone is told once.
        try backup.create(exits: 3)
        try backup.create()
        #expect(try backup.isUploaded(file) == "true")
        // The newest snapshot stays, and so does its record.
        let forget = try backup.run("forget", "--keep-last", "1")
        #expect(forget.text.contains("1 removed"), "\(forget)")
        #expect(try backup.isUploaded(file) == "true")
        let hidden = backup.base.appending("hidden")
        try tool("mv", backup.repository, hidden)
        #expect(try backup.isUploaded(file) == "nil")
        try tool("mv", hidden, backup.repository)
        #expect(try backup.isUploaded(file) == "true")
    }

    @Test(
        "forget removes nothing where the records or the state are not the user's own",
        arguments: [
            ("chown 1234 stored", 1, "belongs to another user, so it is not trusted"),
            ("mv stored moved; touch stored", 1, "is not a directory"),
            ("chown -R 1234 .", 0, "nothing is removed"),
            ("cd ../..; mv state moved; touch state", 0, "nothing is removed"),
        ])
    func forget(change: String, code: Int32, reason: String) throws {
        let backup = try backup(of: documents)
        for _ in 0..<2 { try backup.createFromSettledFiles() }
        try shell("cd \"$1\"; \(change)", backup.base.appending("home/.local/state/resval"))
        try backup.run("forget", "--keep-last", "1", exits: code, says: reason)
        let snapshots = try tool("ls", backup.repository.appending("snapshots"))
        #expect(snapshots.split(separator: "\n").count == 2)
    }

    @Test("forget removes nothing where a directory of another user denies the way to the state")
    func forgetWithHiddenState() throws {
        let backup = try backup(of: documents, user: 1234)
        try tool("chown", "-R", "1234:1234", backup.source)
        for _ in 0..<2 { try backup.create() }
        let hidden = backup.base.appending("hidden")
        try tool("mkdir", "-m", "700", hidden)
        var command = backup.command(["forget", "--keep-last", "1"])
        command.environment["XDG_STATE_HOME"] = "\(hidden)/state"
        try command.run(exits: 0, says: "nothing is removed", prints: "2 kept, 0 removed")
    }

    @Test("records are excluded from backups, and trusted only while they are the user's own")
    func records() throws {
        let backup = try backup(of: documents)
        let file = backup("file")
        try backup.createFromSettledFiles()
        let stored = backup.base.appending("home/.local/state/resval/stored")
        try backup.run("plan", "--excluded-only", stored, exits: 0, prints: "1 excluded")
        try tool("chmod", "-R", "go+w", stored)
        #expect(try backup.isUploaded(file) == "nil")
        try tool("chmod", "-R", "go-w", stored)
        #expect(try backup.isUploaded(file) == "true")
        // While one may stay, no snapshot is removed.
        try backup.create()
        try tool("chmod", "go+w", stored)
        try backup.run("forget", "--keep-last", "1", exits: 1, says: "chmod go-w")
        #expect(try backup.snapshotIdentifiers().count == 2)
    }
}

private let documents = Tree {
    File("file", evictableContent)
    File("other", "text")
}

extension BackupFixture {
    /// Makes a snapshot when the files of the source have not changed for as long as a record needs.
    fileprivate func createFromSettledFiles() throws {
        sleep(3)
        try runSuccessfully("create", source)
    }

    fileprivate func document(_ work: String, _ file: FilePath) throws -> String {
        try foundationTool("local-document", work, file).runSuccessfully()
    }

    /// What a program is told about `ubiquitousItemIsUploaded`.
    fileprivate func isUploaded(_ file: FilePath) throws -> Substring? {
        let words = try foundationTool("ubiquitous", "status", file).runSuccessfully()
            .split { $0 == " " || $0 == "\n" }
        // What is stored is an item of the cloud, as programs ask before they evict it.
        let isInSnapshot = words[1] == "notDownloaded" || words[2] == "true"
        #expect(words.first == "\(isInSnapshot)" && words.last == "\(isInSnapshot)")
        return words[2]
    }

    private func foundationTool(_ arguments: any CommandArgument...) -> Command {
        Command(
            .built("foundation-tool"), arguments: arguments, environment: environment, user: user)
    }
}
