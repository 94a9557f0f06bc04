import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// The functions of Apple's storage guide for documents whose content is stored elsewhere, with a real
/// repository in place of iCloud.
@Suite("Documents that a program removes and fetches")
struct LocalDocumentTests {
    @Test("a document that the newest snapshot contains is evicted, and fetched when it is needed")
    func removeAndFetch() throws {
        try withBackup(of: documents) { backup in
            let file = backup.source.appending("file")
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
    }

    @Test("nothing is recorded of a document that changed, or is not in the snapshot")
    func changes() throws {
        let names = ["rewritten", "same-size", "renamed", "marked", "replaced", "excluded", "kept"]
        let tree = Tree {
            for name in names where name != "excluded" {
                File(FileName(Array(name.utf8)), evictableContent)
            }
            File("excluded", evictableContent).excluded()
            Directory("directory")
            SymbolicLink("link", to: "kept")
        }
        try withBackup(of: tree) { backup in
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
    }

    @Test("a file that changed just before the backup, and so perhaps during it, is not recorded")
    func recentChange() throws {
        try withBackup(of: documents) { backup in
            try backup.createFromSettledFiles()
            try tool("sh", "-c", "echo new > \"$0\"", backup.source.appending("other"))
            try backup.runSuccessfully("create", backup.source)
            #expect(try backup.isUploaded(backup.source.appending("other")) == "nil")
            #expect(try backup.isUploaded(backup.source.appending("file")) == "true")
        }
    }

    @Test("nothing is recorded of a file that is read while it changes, or was not stored")
    func unstored() throws {
        try withBackup(of: documents, user: 1234) { backup in
            let file = backup.source.appending("file")
            try tool("chown", "-R", "1234:1234", backup.source)
            try tool("chown", "0:0", file)
            try tool("chmod", "600", file)
            sleep(3)
            #expect(try backup.run("create", backup.source).exitCode == 3)
            try tool("chmod", "644", file)
            #expect(try backup.isUploaded(file) == "nil")
            #expect(try backup.isUploaded(backup.source.appending("other")) == "true")
        }
    }

    @Test("a snapshot that is removed, by this program or by restic, is not believed in any more")
    func removedSnapshot() throws {
        try withBackup(of: documents) { backup in
            let file = backup.source.appending("file")
            try backup.createFromSettledFiles()
            let first = try #require(
                snapshotIdentifiers(in: backup.runSuccessfully("snapshots", "--json")).first)
            #expect(try backup.isUploaded(file) == "true")
            try backup.restic("forget", first)
            #expect(try backup.isUploaded(file) == "nil")
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully("create", backup.source)
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
    }

    @Test(
        "forget goes on where no record is the user's own, and warns",
        arguments: [
            "chown 1234 .local/state/resval/stored",
            "mv .local/state/resval/stored moved; touch .local/state/resval/stored",
        ])
    func forgetWithStateOfAnother(change: String) throws {
        try withBackup(of: documents) { backup in
            for _ in 0..<2 { try backup.createFromSettledFiles() }
            try tool("sh", "-c", "cd \"$0\"; \(change)", backup.base.appending("home"))
            let forget = try backup.run("forget", "--keep-last", "1")
            #expect(forget.exitCode == 0, "\(forget)")
            #expect(forget.text.contains("1 removed"), "\(forget)")
            #expect(forget.errorText.contains("warning: the records"), "\(forget)")
        }
    }

    @Test("forget removes nothing where the state is another user's, or none")
    func forgetWithoutState() throws {
        for change in [
            "chown -R 1234 .local/state/resval", "mv .local/state moved; touch .local/state",
        ] {
            try withBackup(of: documents) { backup in
                for _ in 0..<2 { try backup.runSuccessfully("create", backup.source) }
                try tool("sh", "-c", "cd \"$0\"; \(change)", backup.base.appending("home"))
                let forget = try backup.run("forget", "--keep-last", "1")
                #expect(forget.exitCode == 0, "\(forget)")
                #expect(forget.text.contains("2 kept, 0 removed"), "\(forget)")
                #expect(forget.errorText.contains("nothing is removed"), "\(forget)")
            }
        }
    }

    @Test("forget removes nothing where a directory of another user denies the way to the state")
    func forgetWithHiddenState() throws {
        try withBackup(of: documents, user: 1234) { backup in
            try tool("chown", "-R", "1234:1234", backup.source)
            for _ in 0..<2 { try backup.runSuccessfully("create", backup.source) }
            let hidden = backup.base.appending("hidden")
            try tool("mkdir", "-m", "700", hidden)
            var command = backup.command(["forget", "--keep-last", "1"])
            command.environment["XDG_STATE_HOME"] = "\(hidden)/state"
            let forget = try command.run()
            #expect(forget.exitCode == 0, "\(forget)")
            #expect(forget.text.contains("2 kept, 0 removed"), "\(forget)")
            #expect(forget.errorText.contains("nothing is removed"), "\(forget)")
        }
    }

    @Test("forget removes no snapshot while a record of the user's own may stay")
    func forgetRefused() throws {
        try withBackup(of: documents) { backup in
            for _ in 0..<2 { try backup.createFromSettledFiles() }
            let stored = backup.base.appending("home/.local/state/resval/stored")
            try tool("chmod", "go+w", stored)
            let forget = try backup.run("forget", "--keep-last", "1")
            #expect(forget.exitCode == 1, "\(forget)")
            #expect(forget.errorText.contains("chmod go-w"), "\(forget)")
            let snapshots = try backup.runSuccessfully("snapshots", "--json")
            #expect(snapshotIdentifiers(in: snapshots).count == 2)
        }
    }

    @Test("records are excluded from backups, and trusted only while they are the user's own")
    func records() throws {
        try withBackup(of: documents) { backup in
            let file = backup.source.appending("file")
            try backup.createFromSettledFiles()
            let stored = backup.base.appending("home/.local/state/resval/stored")
            let plan = try backup.runSuccessfully("plan", "--excluded-only", stored)
            #expect(plan.contains("1 excluded"), "\(plan)")
            try tool("chmod", "-R", "go+w", stored)
            #expect(try backup.isUploaded(file) == "nil")
            try tool("chmod", "-R", "go-w", stored)
            #expect(try backup.isUploaded(file) == "true")
        }
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
            .split(separator: " ")
        return words.dropFirst(2).first
    }

    private func foundationTool(_ arguments: any CommandArgument...) -> Command {
        var command = Command(.built("foundation-tool"), arguments: arguments)
        command.environment = environment
        command.user = user
        return command
    }
}
