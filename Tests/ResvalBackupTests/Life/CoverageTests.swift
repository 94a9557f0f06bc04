import SystemPackage
import TestSupport
import Testing

@Suite("Coverage that shrinks")
struct CoverageTests {
    private static let tree = Tree {
        Directory("docs") {
            for number in 0..<9 { File(FileName(Array("file\(number)".utf8)), "text") }
        }
        File("large", String(repeating: "x", count: 1000))
    }

    private func exclude(_ path: FilePath) throws {
        try tool("setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true", path)
    }

    @Test("a mark on what was held is named, and nothing is forgotten until it is accepted")
    func newMark() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try exclude(backup.source.appending("docs/file1"))
            for _ in 0..<2 {
                let result = try backup.run("create", backup.source)
                #expect(result.exitCode == 3, "\(result)")
                #expect(result.errorText.contains("docs/file1: is newly excluded"))
                #expect(result.errorText.contains("resval-backup accept"))
            }
            for arguments in [["forget", "--keep-last", "1", "--prune"], ["prune"]] {
                let refused = try backup.command(arguments).run()
                #expect(refused.exitCode == 3, "\(refused)")
                #expect(refused.errorText.contains("nothing is removed"))
            }
            #expect(
                try backup.runSuccessfully("snapshots", "--json").split(separator: "\n").count == 3)
            let shown = try backup.runSuccessfully("show", "latest")
            #expect(shown.contains("docs/file1: is newly excluded"))
            try backup.runSuccessfully("accept")
            #expect(try backup.run("accept").exitCode == 1)
            #expect(try backup.run("create", backup.source).exitCode == 0)
            try backup.runSuccessfully("forget", "--keep-last", "1", "--prune")
            #expect(
                try backup.runSuccessfully("snapshots", "--json").split(separator: "\n").count == 1)
        }
    }

    @Test("a mark that others can set is told of with the first snapshot, too, and counts")
    func marksOfOthers() throws {
        let tree = Tree {
            File("kept", "text")
            Directory("shared") { File("file", "text") }.permissions(0o775).excluded()
            File("world", "text").permissions(0o646).excluded()
            File("listed", "text").excluded()
            Directory("own") { File("file", "text") }.excluded()
        }
        try withBackup(of: tree) { backup in
            try require(.tool("setfacl"))
            try tool("setfacl", "-m", "u:1234:rw", backup.source.appending("listed"))
            let first = try backup.run("create", backup.source)
            #expect(first.exitCode == 3, "\(first)")
            for name in ["shared", "world", "listed"] {
                let path = backup.source.appending(name)
                #expect(
                    first.errorText.contains("\(path): warning: a mark excludes it, and users "))
                #expect(first.errorText.contains("\(path): is excluded for the first time"))
            }
            #expect(!first.errorText.contains("/own"))
            #expect(first.text.contains("4 excluded"))
            #expect(try backup.run("forget", "--keep-last", "1").exitCode == 3)
            try backup.runSuccessfully("accept")
            let second = try backup.run("create", backup.source)
            #expect(second.exitCode == 0, "\(second)")
            #expect(second.errorText.contains("shared: warning: a mark excludes it"))
            let new = Tree {
                Directory("new") { File("file", "text") }.permissions(0o777).excluded()
            }
            try new.create(in: backup.source)
            let third = try backup.run("create", backup.source)
            #expect(third.exitCode == 3, "\(third)")
            #expect(third.errorText.contains("new: is excluded for the first time"))
            #expect(!third.errorText.contains("shared: is excluded"))
        }
    }

    @Test("a new item that is excluded from the start is no loss")
    func newExcludedItem() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try Tree { Directory("build") { File("made", "text") } }.create(in: backup.source)
            try exclude(backup.source.appending("build"))
            #expect(try backup.run("create", backup.source).exitCode == 0)
        }
    }

    @Test("an evicted file is no loss, and neither is bringing it back")
    func evicted() throws {
        let tree = Tree {
            File("large", [UInt8](repeating: 7, count: 1_000_000))
            File("small", "text")
        }
        try withBackup(of: tree) { backup in
            let file = backup.source.appending("large")
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully("evict", file)
            let evicted = try backup.run("create", backup.source)
            #expect(evicted.exitCode == 0, "\(evicted)")
            try backup.runSuccessfully("download", file)
            let whole = try backup.run("create", backup.source)
            #expect(whole.exitCode == 0, "\(whole)")
        }
    }

    @Test("a fall of items or bytes by more than 20 %, and an empty SOURCE, are named")
    func falls() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try tool("rm", backup.source.appending("docs/file1"))
            #expect(try backup.run("create", backup.source).exitCode == 0)
            try tool("rm", backup.source.appending("large"))
            let bytes = try backup.run("create", backup.source)
            #expect(bytes.exitCode == 3, "\(bytes)")
            #expect(bytes.errorText.contains("bytes fell from 1.0 KiB to 32 B"))
            try tool("rm", "-r", backup.source.appending("docs"))
            let empty = try backup.run("create", "--json", backup.source)
            #expect(empty.exitCode == 3, "\(empty)")
            for cause in ["fewer-items", "fewer-bytes", "empty-source"] {
                #expect(empty.text.contains(#""reason":"\#(cause)""#), "\(empty)")
            }
        }
    }

    @Test("a SOURCE on another filesystem is named, and covers again once it is back")
    func otherFilesystem() throws {
        try require(.root)
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let script = """
                mount -t tmpfs none "$1" && cp -r "$2/." "$1" && "$RESVAL" create "$1"
                """
            var command = Command(
                "/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, "sh", backup.source,
                backup.base.appending("copy"))
            try tool("cp", "-r", backup.source, backup.base.appending("copy"))
            command.environment = backup.environment.merging([
                "RESVAL": "\(FilePath.built("resval-backup"))"
            ]) { $1 }
            let away = try command.run()
            #expect(away.exitCode == 3, "\(away)")
            #expect(
                away.errorText.contains(
                    "is on another filesystem than at the snapshot before: tmpfs"))
            #expect(try backup.run("create", backup.source).exitCode == 0)
            // The newest one covers everything again.
            #expect(try backup.run("forget", "--keep-last", "2").exitCode == 0)
        }
    }

    @Test("an item that lost its protection class is warned of")
    func lostClass() throws {
        try withBackup(of: Self.tree) { backup in
            let file = backup.source.appending("large")
            try tool("setfattr", "-n", "user.resval.fileProtection", "-v", "complete", file)
            try backup.runSuccessfully("create", backup.source)
            try tool("setfattr", "-x", "user.resval.fileProtection", file)
            let result = try backup.run("create", backup.source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.errorText.contains("large: warning: had the protection class complete"))
        }
    }

    @Test("an incomplete snapshot is tagged so, and does not push out the complete one")
    func incomplete() throws {
        try withBackup(of: Self.tree, user: 54321) { backup in
            try backup.runSuccessfully("create", backup.source)
            let file = backup.source.appending("docs/file2")
            try tool("chmod", "0", file)
            try tool("chown", "0:0", file)
            #expect(try backup.run("create", backup.source).exitCode == 3)
            #expect(try backup.runSuccessfully("show", "latest").contains("incomplete"))
            try backup.runSuccessfully("forget", "--keep-last", "1")
            #expect(
                try backup.runSuccessfully("snapshots", "--json").split(separator: "\n").count == 2)
        }
    }
}
