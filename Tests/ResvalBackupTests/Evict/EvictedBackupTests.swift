import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Backups and snapshots of evicted files")
struct EvictedBackupTests {
    @Test("a placeholder counts as kept where its snapshot is, and is missing anywhere else")
    func lostSnapshot() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            // A repository that was moved is the same.
            let hidden = backup.base.appending("hidden")
            try tool("mv", backup.repository, hidden)
            var plan = backup.command(["plan", "--excluded-only", backup.source])
            plan.environment["RESVAL_BACKUP_REPOSITORY"] = "\(hidden)"
            let kept = try plan.run(exits: 0)
            #expect(kept.text.contains("1 excluded"))
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
            let create = try backup.create(exits: 3)
            #expect(create.errorText.contains("\(file): is not in the snapshot: is evicted"))
            #expect(create.text.contains("1 excluded"))
        }
    }

    @Test(
        "what looks like a placeholder but isn't is stored, named, and makes a backup incomplete")
    func disagreements() throws {
        try withBackup(of: Tree { File("file", evictableContent) }) { backup in
            let file = backup.source.appending("file")
            func expectCreate(_ code: Int32, _ text: String) throws {
                let create = try backup.create(exits: code)
                #expect(create.errorText.contains("\(file): "), "\(create)")
                #expect(create.errorText.contains(text), "\(create)")
                #expect(create.text.contains("0 excluded"))
            }
            try backup.runSuccessfully("evict", file)
            try tool("chmod", "644", file)
            try expectCreate(3, "has permission bits")
            let found = try backup.runSuccessfully("evict", "--list", backup.source)
            #expect(found.contains("exposed"))
            try tool("cp", "--sparse=never", file, backup.base.appending("zeros"))
            try tool("sh", "-c", #"cat "$1" > "$0""#, file, backup.base.appending("zeros"))
            try expectCreate(0, "warning: has the record of an evicted file")
            try tool("rm", file)
            try tool("truncate", "-s", "1M", file)
            try tool("chmod", "0", file)
            try expectCreate(3, "no record of its content")
            let list = try backup.run("plan", "--format", "nul", backup.source, exits: 3)
            #expect(list.errorText.contains("no record of its content"))
        }
    }

    @Test("an evicted file in an excluded directory is not asked for")
    func excluded() throws {
        let tree = Tree {
            Directory("cache") { File("file", evictableContent) }
            File("small", "text")
        }
        try withBackup(of: tree) { backup in
            let cache = backup.source.appending("cache")
            try backup.runSuccessfully("evict", cache.appending("file"))
            try cache.setValue(true, for: .isExcludedFromBackup)
            let create = try backup.create()
            #expect(create.errorText == "")
        }
    }

    @Test("a backup of an evicted file contains no zeros, wherever the file was moved")
    func noZeros() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            let moved = backup.source.appending("moved")
            try tool("mv", file, moved)
            try backup.create()
            let snapshots = try backup.restic("ls", "latest", "--host", try tool("hostname"))
            #expect(!snapshots.contains("moved"))
            try backup.runSuccessfully("download", moved)
            #expect(try contentsOfFile(moved) == evictableContent)
            #expect(try moved.value(for: .isPurgeable) == true)
            try backup.create()
            #expect(try backup.restic("ls", "latest").contains("moved"))
        }
    }

    @Test("a restore brings what is evicted, and show and snapshots name what keeps it")
    func named() throws {
        let tree = Tree {
            File("file", evictableContent)
            File("small", "text")
        }
        try withBackup(of: tree) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            try backup.create()
            let restore = try backup.restore()
            #expect(restore.text.contains(": 3 items restored\n"), "\(restore)")
            #expect(try contentsOfFile(backup.restored(file)) == evictableContent)
            let part = backup.base.appending("part")
            try backup.runSuccessfully(
                "restore", "--target", part, backup.source.appending("small"))
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
    }

    @Test("a copy full of zeros is never taken for the content, also when its snapshot is gone")
    func zeros() throws {
        try require(.root)
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
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
    }

    @Test("a record that another user forged discloses nothing, and makes no backup incomplete")
    func forged() throws {
        try require(.root, .tool("setfattr"))
        try withBackup(of: Tree { File("file", evictableContent).permissions(0o600) }) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            let name = try #require(try file.evictionNames().first)
            let parts = name.split(separator: ".").map(String.init)
            let unknown = (parts[..<4] + [String(repeating: "0", count: 16)] + parts[5...])
                .joined(separator: ".")
            let forged = [name, unknown].enumerated().map { number, name in
                (backup.source.appending("forged \(number)"), name)
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
    }
}
