import SystemCalls
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

    private func include(_ path: FilePath) throws {
        try tool("setfattr", "-x", "user.resval.isExcludedFromBackup", path)
    }

    private func snapshots(_ backup: BackupFixture) throws -> [String] {
        try backup.runSuccessfully("snapshots", "--json").split(separator: "\n")
            .map { String($0.dropFirst(#"{"version":1,"snapshot":""#.count).prefix(8)) }
    }

    @Test("what the owner excludes is named once, and the snapshot that has it is kept")
    func newMark() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let first = try snapshots(backup)
            let path = backup.source.appending("docs/file1")
            try exclude(path)
            let named = try backup.run("create", backup.source)
            #expect(named.exitCode == 0, "\(named)")
            #expect(named.errorText.contains("docs/file1: warning: is newly excluded: "))
            #expect(named.errorText.contains("snapshot \(first[0]), which has it, is kept"))
            let silent = try backup.run("create", "--json", backup.source)
            #expect(silent.exitCode == 0 && silent.errorText == "", "\(silent)")
            #expect(silent.text.contains(#""hasShrunk":false,"coverage":[],"holds":[{"path":"#))
            let forget = try backup.run("forget", "--keep-last", "1", "--prune")
            #expect(forget.exitCode == 0, "\(forget)")
            #expect(forget.text.contains("has what was excluded since: \(path)"), "\(forget)")
            let left = try snapshots(backup)
            #expect(left.count == 2 && left.first == first[0], "\(left)")
            let shown = try backup.runSuccessfully("show", "latest")
            #expect(shown.contains("holds:    \(first[0]) until "), "\(shown)")
            try backup.runSuccessfully("accept")
            #expect(try backup.run("accept").exitCode == 1)
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully("forget", "--keep-last", "1", "--prune")
            #expect(try snapshots(backup).count == 1)
        }
    }

    @Test("an exclusion of more than 20 % is no fall, and ends when a whole snapshot has it again")
    func included() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let large = backup.source.appending("large")
            try exclude(large)
            try backup.runSuccessfully("create", backup.source)
            try include(large)
            // It is planned again, and not known to be stored.
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully("forget", "--keep-last", "1")
            #expect(try snapshots(backup).count == 2)
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully("forget", "--keep-last", "1")
            #expect(try snapshots(backup).count == 1)
        }
    }

    @Test("a hold ends after 30 days")
    func thirtyDays() throws {
        try require(.tool("faketime"))
        try withBackup(of: Self.tree) { backup in
            // restic asks the kernel for the time, and not the library that faketime takes the place of.
            let script = """
                if [ "$1" = backup ]; then
                    shift
                    set -- backup --time "$(date '+%Y-%m-%d %H:%M:%S')" "$@"
                fi
                """
            func run(_ offset: String, _ words: any CommandArgument...) throws {
                var command = try backup.command(words, before: script)
                let start = ["-m", "-f", offset].map { Array($0.utf8) }
                command.arguments = start + [command.executable.bytes] + command.arguments
                command.executable = try #require(FilePath.tool("faketime"))
                command.environment["DONT_FAKE_MONOTONIC"] = "1"
                try command.runSuccessfully()
            }
            try run("-60d", "create", backup.source)
            try exclude(backup.source.appending("docs"))
            for (offset, count) in [("-59d", 2), ("-31d", 2), ("-28d", 1)] {
                try run(offset, "create", backup.source)
                try run(offset, "forget", "--keep-last", "1")
                #expect(try snapshots(backup).count == count, "\(offset)")
            }
        }
    }

    @Test("excluded again, the snapshot with the newest content is held, too")
    func excludedAgain() throws {
        try withBackup(of: Self.tree) { backup in
            let part = backup.source.appending("docs")
            _ = try backup.run("create", backup.source)
            for content in ["second", "third"] {
                try exclude(part)
                _ = try backup.run("create", backup.source)
                try include(part)
                try Tree { File(FileName(Array(content.utf8)), "new") }.create(in: part)
                _ = try backup.run("create", backup.source)
            }
            let newest = try #require(try snapshots(backup).last)
            try exclude(part)
            let excluded = try backup.run("create", backup.source)
            #expect(excluded.errorText.contains("snapshot \(newest), which has it, is kept"))
            let forget = try backup.run("forget", "--keep-last", "1")
            #expect(forget.text.contains("keep    \(newest)"), "\(forget)")
        }
    }

    @Test("a hold goes on while no snapshot has the part again")
    func partIsGone() throws {
        try withBackup(of: Self.tree) { backup in
            let part = backup.source.appending("docs")
            _ = try backup.run("create", backup.source)
            let first = try #require(try snapshots(backup).first)
            try exclude(part)
            _ = try backup.run("create", backup.source)
            try include(part)
            try tool("mv", part, backup.base.appending("aside"))
            _ = try backup.run("create", backup.source)
            try tool("mv", backup.base.appending("aside"), part)
            _ = try backup.run("create", backup.source)
            let forget = try backup.run("forget", "--keep-last", "1")
            #expect(forget.text.contains("keep    \(first)"), "\(forget)")
        }
    }

    @Test("a snapshot without a record decides nothing about holds")
    func foreignSnapshot() throws {
        try withBackup(of: Self.tree) { backup in
            _ = try backup.run("create", backup.source)
            let first = try #require(try snapshots(backup).first)
            try exclude(backup.source.appending("docs"))
            _ = try backup.run("create", backup.source)
            let tags = try backup.restic("snapshots", "--json", "latest")
            try require(.tool("jq"))
            let own = try tool(
                "sh", "-c",
                """
                printf %s "$1" |
                    jq -r '.[0].tags | map(select(startswith("resval-source"))) | join(",")'
                """, "sh", tags)
            for tag in ["resval-kept", "resval-coverage=accepted"] {
                _ = try backup.restic(
                    "backup", "--tag", "\(own),\(tag)", "\(backup.source)/large")
                let forget = try backup.run("forget", "--keep-last", "1", "--dry-run")
                #expect(forget.text.contains("keep    \(first)"), "\(tag): \(forget)")
            }
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
