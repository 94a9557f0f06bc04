import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Restoring evicted files")
struct RestoreEvictedTests {
    /// Where the file and its directory are after they were evicted and moved.
    private struct Places {
        let moved: FilePath
        let before: TreeListing
    }

    /// Evicts two files into a repository, moves one of them and makes a snapshot; then everything is lost
    /// but the repositories.
    private func loseEverything(
        _ backup: BackupFixture, evictingInto repository: FilePath? = nil
    ) throws -> Places {
        let moved = backup.source.appending("directory").appending("moved")
        let hostile = backup.source.appending("directory").appending("it's [a]\n")
        var evict = backup.command(["evict", backup.source.appending("file"), hostile])
        if let repository { evict.environment["RESVAL_BACKUP_REPOSITORY"] = "\(repository)" }
        try evict.runSuccessfully()
        try tool("mv", backup.source.appending("file"), moved)
        try backup.run("create", backup.source, exits: repository == nil ? 0 : 3)
        try backup.runSuccessfully("download", moved, hostile)
        let before = try TreeListing(of: backup.source)
        try tool("rm", "-rf", backup.source)
        return Places(moved: moved, before: before)
    }

    private var tree: Tree {
        Tree {
            File("file", evictableContent).purgeable().permissions(0o440)
            Directory("directory") {
                File("it's [a]\n", "content")
                File("small", "text")
            }
        }
    }

    @Test("a restore brings them with their marks to where they were")
    func withEvicted() throws {
        try withBackup(of: tree) { backup in
            let places = try loseEverything(backup)
            try tool("rm", "-rf", backup.base.appending("home/.local"))
            let restore = try backup.restore()
            #expect(restore.errorText == "")
            #expect(
                try TreeListing(of: backup.restored(backup.source))
                    .differences(from: places.before) == [])
            #expect(try backup.restored(places.moved).value(for: .isPurgeable) == true)
            // One that is asked for by its name comes by itself, and what is there stays.
            let words: [any CommandArgument] = [
                "restore", places.moved, "--snapshot", "latest", "--target",
                backup.base.appending("one"),
            ]
            let one = try backup.command(words).run(exits: 0)
            #expect(one.text.contains(": 1 item restored\n"), "\(one)")
            try backup.command(words).run(exits: 1)
        }
    }

    @Test("an ordinary user gets a read-only file back with its marks")
    func readOnly() throws {
        let tree = Tree {
            File("file", evictableContent).purgeable().permissions(0o440).owned(by: 54321)
        }
        try withBackup(of: tree, user: 54321) { backup in
            let before = try TreeListing(of: backup.source)
            try backup.runSuccessfully("evict", backup.source.appending("file"))
            try backup.create()
            try backup.restore()
            #expect(
                try TreeListing(of: backup.restored(backup.source)).differences(from: before) == [])
        }
    }

    @Test(
        "those of another repository come from there, or are named with what to do"
    )
    func otherRepository() throws {
        try withBackup(of: tree) { backup in
            let other = backup.base.appending("other")
            try backup.runSuccessfully("init", "--repository", other)
            let places = try loseEverything(backup, evictingInto: other)
            try backup.restore()
            #expect(try contentsOfFile(backup.restored(places.moved)) == evictableContent)
            try tool("rm", "-rf", backup.base.appending("home/.local"))
            let part = backup.base.appending("part")
            let unknown = try backup.run(
                "restore", "--snapshot", "latest", "--target", part, exits: 3)
            for name in ["moved: ", #"[a]\n': "#] {
                #expect(
                    unknown.errorText.contains("\(name)was not restored: it is evicted"),
                    "\(unknown)")
            }
            #expect(unknown.errorText.contains("name it with --repository"), "\(unknown)")
        }
    }
}
