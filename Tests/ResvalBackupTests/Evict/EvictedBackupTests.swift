import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Backups and snapshots of evicted files", .cleansUp)
struct EvictedBackupTests {
    @Test("a placeholder counts as kept where its snapshot is, and is missing anywhere else")
    func lostSnapshot() throws {
        let backup = try backup(of: oneFile)
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        // A repository that was moved is the same.
        let hidden = backup.base.appending("hidden")
        try tool("mv", backup.repository, hidden)
        try backup.command(["plan", "--excluded-only", backup.source])
            .setting(["RESVAL_BACKUP_REPOSITORY": "\(hidden)"]).run(
                exits: 0, prints: "exclude   \(file): it is evicted: its content is in snapshot ",
                "1 excluded")
        try tool("mv", hidden, backup.repository)
        // A record of another repository says nothing of this one, whatever snapshot it names.
        let name = try #require(try file.evictionNames().first)
        let parts = name.split(separator: ".").map(String.init)
        let forged = (parts[..<3] + [String(repeating: "0", count: 16)] + parts[4...])
            .joined(separator: ".")
        for (old, new) in [(name, forged), (forged, name)] {
            try tool("chmod", "200", file)
            try tool("setfattr", "-x", old, file)
            try tool("setfattr", "-n", new, "-v", "1", file)
            try tool("chmod", "0", file)
            try backup.run("plan", backup.source, exits: new == forged ? 3 : 0)
        }
        // restic forgets what no forget of ours touches.
        let hold = try backup.restic("snapshots", "--json")
        let identifier = try #require(
            hold.split(separator: #""short_id":""#).dropFirst().first?.prefix(8))
        try backup.restic("forget", String(identifier))
        try backup.create(
            exits: 3, says: "\(file): is not in the snapshot: is evicted", prints: "1 excluded")
    }

    @Test("evicted content that is gone from the repository is news each time")
    func gone() throws {
        let fixture = try configuredBackup { oneFile }
        try fixture.runSuccessfully("evict", fixture("file"))
        let kept = try fixture.restic("snapshots", "--json")
        let identifier = try #require(
            kept.split(separator: #""short_id":""#).dropFirst().first?.prefix(8))
        try fixture.restic("forget", String(identifier))
        for _ in 0..<2 {
            try fixture.run("run", exits: 3)
            try fixture.run("status", exits: 3)
        }
    }

    @Test(
        "what looks like a placeholder but isn't is stored, named, and makes a backup incomplete")
    func disagreements() throws {
        let backup = try backup { File("file", evictableContent) }
        let file = backup("file")
        func expectCreate(_ code: Int32, _ text: String) throws {
            try backup.create(exits: code, says: "\(file): ", text, prints: "0 excluded")
        }
        try backup.runSuccessfully("evict", file)
        try tool("chmod", "644", file)
        try expectCreate(3, "has permission bits")
        try backup.run("evict", "--list", backup.source, exits: 0, prints: "exposed")
        try tool("cp", "--sparse=never", file, backup.base.appending("zeros"))
        try tool("sh", "-c", #"cat "$1" > "$0""#, file, backup.base.appending("zeros"))
        try expectCreate(0, "warning: has the record of an evicted file")
        try tool("rm", file)
        try tool("truncate", "-s", "1M", file)
        try tool("chmod", "0", file)
        try expectCreate(3, "no record of its content")
        try backup.run(
            "plan", "--format", "nul", backup.source, exits: 3, says: "no record of its content"
        )
    }

    @Test("a restore puts nothing in the place of content that the snapshot could not store")
    func unstored() throws {
        let backup = try backup { File("file", evictableContent) }
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        try tool("chmod", "644", file)
        try backup.create(exits: 3)
        try backup.runSuccessfully("download", file)
        let result = try backup.run(
            "restore", "--overwrite", "--yes", backup.source, exits: 3,
            says: "; 1 not stored whole; ",
            "\(file): was not restored: it could not be stored whole")
        #expect(result.errorText.split(separator: "\n").count { $0.contains("\(file)") } == 1)
        #expect(try contentsOfFile(file) == evictableContent)
        try backup.restore(exits: 3)
        #expect(!backup.restored(file).exists)
    }

    @Test("what root wrote into a placeholder is stored whole once the advice was followed")
    func written() throws {
        try require(.root)
        let backup = try backup { File("file", evictableContent) }
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        try shell("echo other > \"$1\"", file)
        try backup.create(exits: 3, says: "chmod u+rw keeps what is there")
        try tool("chmod", "u+rw", file)
        try backup.create()
        try backup.restore()
        #expect(try contentsOfFile(backup.restored(file)) == Array("other\n".utf8))
    }

    @Test("an evicted file in an excluded directory is not asked for")
    func excluded() throws {
        let backup = try backup {
            Directory("cache") { File("file", evictableContent) }
            File("small", "text")
        }
        let cache = backup("cache")
        try backup.runSuccessfully("evict", cache.appending("file"))
        try cache.setValue(true, for: .isExcludedFromBackup)
        let create = try backup.create()
        #expect(create.errorText == "")
    }

    @Test("a restore brings what is evicted, and show and snapshots name what keeps it")
    func named() throws {
        let backup = try backup {
            File("file", evictableContent)
            File("small", "text")
        }
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        try backup.create()
        try backup.restore(prints: ": 3 items restored\n")
        #expect(try contentsOfFile(backup.restored(file)) == evictableContent)
        let part = backup.base.appending("part")
        try backup.runSuccessfully("restore", "--target", part, backup("small"))
        let show = try backup.runSuccessfully("show", "latest")
        #expect(show.contains("1 file in other snapshots"))
        let lines = try backup.runSuccessfully("snapshots").split(separator: "\n")
        let keeping = try #require(lines.first { $0.contains("keeps evicted files") })
        let kept = try backup.runSuccessfully("show", String(keeping.prefix(8)))
        #expect(kept.contains("keeps:    1 evicted file, 312.5 KiB"))
        #expect(!kept.contains("did not make it"))
        let whole = backup.base.appending("whole")
        try backup.runSuccessfully(
            "restore", "--target", whole, "--snapshot", String(keeping.prefix(8)))
        #expect(
            try contentsOfFile(whole.pushing(FilePath(root: nil, file.components)))
                == evictableContent)
    }

    @Test("a copy full of zeros is never taken for the content, also when its snapshot is gone")
    func zeros() throws {
        try require(.root)
        let backup = try backup(of: oneFile)
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        let copies = ["first", "second"].map { backup.source.appending($0) }
        for copy in copies {
            try tool("cp", "-a", "--sparse=never", file, copy)
            try #require(try copy.status().allocatedSize > evictableContent.count)
        }
        try backup.create(exits: 3)
        try backup.runSuccessfully("evict", "--recover", copies[0])
        try backup.runSuccessfully("download", file)
        for path in [copies[0], file] {
            #expect(try contentsOfFile(path) == evictableContent)
            #expect(try path.status().permissions == 0o644)
        }
        let lines = try backup.runSuccessfully("snapshots").split(separator: "\n")
        let keeping = try #require(lines.first { $0.contains("keeps evicted files") })
        try backup.runSuccessfully("evict", "--forget", String(keeping.prefix(8)), "--yes")
        for words in [["evict", "--recover"], ["download"]] {
            let result = try backup.command(words + [copies[1]]).run()
            #expect(result.exitCode != 0, "\(result)")
            #expect(try copies[1].status().permissions == 0)
            #expect(try copies[1].evictionNames().count == 1)
        }
    }

    @Test("a record that another user forged discloses nothing, and makes no backup incomplete")
    func forged() throws {
        try require(.root, .tool("setfattr"))
        let backup = try backup { File("file", evictableContent).permissions(0o600) }
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        let name = try #require(try file.evictionNames().first)
        let parts = name.split(separator: ".").map(String.init)
        let unknown = (parts[..<4] + [String(repeating: "0", count: 16)] + parts[5...])
            .joined(separator: ".")
        let forged = [name, unknown].enumerated().map { number, name in
            (backup("forged \(number)"), name)
        }
        for (path, name) in forged {
            try tool("truncate", "-s", String(evictableContent.count), path)
            try tool("setfattr", "-n", name, "-v", "1", path)
            try tool("touch", "-r", file, path)
            try tool("chown", "4711", path)
            try tool("chmod", "0", path)
        }
        // Root, who has the password, is not led to give the content away.
        for (path, _) in forged {
            try backup.run("download", path, exits: 1)
            #expect(try path.status().allocatedSize <= 4096)
        }
        try backup.create()
        try backup.restore(exits: 3)
        #expect(try contentsOfFile(backup.restored(file)) == evictableContent)
        for (path, _) in forged {
            #expect(throws: (any Error).self) { try backup.restored(path).status() }
        }
    }

    @Test(
        "homes of others with anything but a journal neither stop root's plan and backup nor change"
    )
    func things() throws {
        let backup = try backup { File("file", evictableContent) }
        let homes = try HostileHomes(in: backup.base, root: backup.base.appending("home"))
        for words in [["plan", "\(backup.source)"], ["create", "\(backup.source)"]] {
            try homes.meeting(backup.command(words)).run(exits: 0, prints: "2 items", "0 excluded")
        }
    }

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
        let moved = backup("directory").appending("moved")
        let hostile = backup("directory").appending("it's [a]\n")
        var evict = backup.command(["evict", backup("file"), hostile])
        if let repository { evict.environment["RESVAL_BACKUP_REPOSITORY"] = "\(repository)" }
        try evict.runSuccessfully()
        try tool("mv", backup("file"), moved)
        try backup.run("create", backup.source, exits: repository == nil ? 0 : 3)
        try backup.runSuccessfully("download", moved, hostile)
        let before = try TreeListing(of: backup.source)
        try tool("rm", "-rf", backup.source)
        return Places(moved: moved, before: before)
    }

    private var tree: Tree {
        Tree {
            File("file", evictableContent).purgeable().permissions(0o440)
            File("directory/it's [a]\n", "content")
            File("directory/small", "text")
        }
    }

    @Test("a restore brings evicted files with their marks to where they were")
    func withEvicted() throws {
        let backup = try backup(of: tree)
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
        try backup.command(words).run(exits: 0, prints: ": 1 item restored\n")
        try backup.command(words).run(exits: 1)
    }

    @Test("an ordinary user gets a read-only evicted file back with its marks, and root takes none")
    func readOnly() throws {
        let backup = try backup(user: 54321) {
            File("file", evictableContent).purgeable().permissions(0o440).owned(by: 54321)
        }
        let (file, before) = (backup("file"), try TreeListing(of: backup.source))
        let root = BackupFixture(base: backup.base, user: nil)
        #expect(try root.run("evict", file).errorText.contains("another user"))
        try backup.runSuccessfully("evict", file)
        try backup.create(prints: "1 excluded")
        try root.run("download", file, exits: 1)
        // Root knows by the record, whoever has the journal.
        try root.command(["plan", backup.source])
            .setting(["RESTIC_CACHE_DIR": "\(backup.base)/other"])
            .run(exits: 0, prints: "1 excluded")
        try backup.restore()
        #expect(try TreeListing(of: backup.restored(backup.source)).differences(from: before) == [])
        try backup.runSuccessfully("download", file)
        #expect(try TreeListing(of: backup.source).differences(from: before) == [])
    }

    @Test("evicted files of another repository come from there, or are named with what to do")
    func otherRepository() throws {
        let backup = try backup(of: tree)
        let other = backup.base.appending("other")
        try backup.runSuccessfully("init", "--repository", other)
        let places = try loseEverything(backup, evictingInto: other)
        try backup.restore()
        #expect(try contentsOfFile(backup.restored(places.moved)) == evictableContent)
        try tool("rm", "-rf", backup.base.appending("home/.local"))
        let part = backup.base.appending("part")
        let unknown = try backup.restore(to: part, exits: 3)
        for name in ["moved: ", #"[a]\n': "#] {
            #expect(
                unknown.errorText.contains("\(name)was not restored: it is evicted"),
                "\(unknown)")
        }
        #expect(unknown.errorText.contains("name it with --repository"), "\(unknown)")
    }
}
