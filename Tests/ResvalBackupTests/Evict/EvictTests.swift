import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Evicting files into a repository")
struct EvictTests {
    private static let content = Array(repeating: Array("0123456789abcdef".utf8), count: 20_000)
        .flatMap { $0 }

    private var oneFile: Tree { Tree { File("file", Self.content).purgeable() } }

    private func isPlaceholder(_ path: FilePath) throws -> Bool {
        let status = try path.status()
        return status.permissions == 0 && status.allocatedSize <= 4096
    }

    @Test("files of hostile names are evicted, left out of a backup, and come back as they were")
    func hostileNames() throws {
        let tree = Tree {
            File("ordinary", "text")
            Directory("d\u{1B}\n") {
                for name in HostileNames.all { File(name, "content of " + "\(name)") }
            }
        }
        try withBackup(of: tree) { backup in
            let before = try TreeListing(of: backup.source)
            let evict = try backup.run("evict", "-R", backup.source)
            #expect(evict.exitCode == 0, "\(evict)")
            #expect(evict.text.contains("total: 21 files, "))
            for name in HostileNames.all {
                let path = backup.source.appending("d\u{1B}\n" as FileName).appending(name)
                #expect(try isPlaceholder(path), "\(name)")
            }
            let create = try backup.run("create", backup.source)
            #expect(create.exitCode == 0, "\(create)")
            #expect(create.text.contains("21 left out"))
            let plan = try backup.run("plan", "--json", "--excluded-only", backup.source)
            #expect(plan.exitCode == 0)
            #expect(plan.text.split(separator: "\n").count { $0.contains(#""evicted""#) } == 21)
            let listing = try backup.restic("ls", "--tag", "resval-hold=x", "latest")
            #expect(!listing.contains("ordinary"))
            let download = try backup.run("download", "-R", backup.source)
            #expect(download.exitCode == 0, "\(download)")
            #expect(try TreeListing(of: backup.source).differences(from: before) == [])
            #expect(try backup.runSuccessfully("evicted") == "")
        }
    }

    @Test("a backup between evicting and bringing back holds no zeros, wherever the file was moved")
    func noZeros() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            let moved = backup.source.appending("moved")
            try tool("mv", file, moved)
            try tool("chmod", "644", moved)
            try backup.runSuccessfully("create", backup.source)
            let snapshots = try backup.restic("ls", "latest", "--host", try tool("hostname"))
            #expect(!snapshots.contains("moved"))
            try backup.runSuccessfully("download", moved)
            #expect(try contentsOfFile(moved) == Self.content)
            #expect(try moved.value(for: .isPurgeable) == true)
            try backup.runSuccessfully("create", backup.source)
            #expect(try backup.restic("ls", "latest").contains("moved"))
        }
    }

    @Test("what is refused is named with its reason, and the exit code tells whether all was")
    func refusals() throws {
        let tree = Tree {
            File("file", Self.content)
            File("excluded", Self.content).excluded()
            File("twin", Self.content)
            File("empty", "")
            SymbolicLink("link", to: "file")
        }
        try withBackup(of: tree) { backup in
            try tool("ln", backup.source.appending("twin"), backup.source.appending("other"))
            let names = ["excluded", "twin", "link", "missing", "empty"]
            let refused = try backup.command(
                ["evict"] + names.map { backup.source.appending($0) }
            ).run()
            #expect(refused.exitCode == 1, "\(refused)")
            for reason in ["excluded from backups", "2 names", "no regular file", "no such file"] {
                #expect(refused.errorText.lowercased().contains(reason.lowercased()), "\(reason)")
            }
            let needed = try backup.run(
                "evict", "-R", backup.base.appending("password"), backup.repository)
            #expect(needed.exitCode == 1, "\(needed)")
            #expect(needed.errorText.contains("the repository's password"))
            let config = try backup.run("evict", backup.repository.appending("config"))
            #expect(config.errorText.contains("it is the repository"))
            let planned = try backup.run(
                "evict", "--dry-run", "--json", backup.source.appending("file"))
            #expect(planned.exitCode == 0)
            #expect(planned.text.contains(#""result":"planned""#))
            let some = try backup.run("evict", "--json", "-R", backup.source)
            #expect(some.exitCode == 3, "\(some)")
            #expect(some.text.contains(#""reason":"hard-linked""#))
            #expect(try isPlaceholder(backup.source.appending("file")))
            let again = try backup.run("evict", backup.source.appending("file"))
            #expect(again.exitCode == 0, "\(again)")
        }
    }

    @Test("a damaged repository gives no content back, and takes none away")
    func damaged() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            let script = """
                for pack in "$1"/data/*/*; do cp "$pack" "$pack.good"; chmod u+w "$pack"
                printf damage | dd of="$pack" bs=1 seek=20 conv=notrunc 2>/dev/null; done
                rm -rf "$2"
                """
            _ = try backup.script(script, backup.repository, backup.base.appending("cache"))
            let failed = try backup.run("download", file)
            #expect(failed.exitCode == 1, "\(failed)")
            #expect(try isPlaceholder(file))
            #expect(try backup.runSuccessfully("evicted").contains("the last download failed"))
            _ = try backup.script(
                #"for pack in "$1"/data/*/*.good; do mv -f "$pack" "${pack%.good}"; done"#,
                backup.repository)
            try backup.runSuccessfully("download", file)
            #expect(try contentsOfFile(file) == Self.content)
        }
    }

    @Test("the repository is known without being named, and a snapshot that is gone is said")
    func ownRepository() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            var command = backup.command(["download", "--dry-run", file])
            command.environment["RESVAL_BACKUP_REPOSITORY"] = .some(nil)
            #expect(try command.run().text.contains("would be brought back"))
            let other = backup.base.appending("other")
            try tool("cp", "-r", backup.repository, other)
            try backup.runSuccessfully("download", "--repository", other, file)
            try backup.runSuccessfully("evict", file)
            let gone = try backup.run("download", "--repository", other, file)
            #expect(gone.exitCode == 1)
            #expect(gone.errorText.contains("is not in the repository"))
            #expect(try backup.runSuccessfully("evicted").contains("is not in the repository"))
            #expect(try isPlaceholder(file))
            command = backup.command(["download", file])
            command.environment["RESVAL_BACKUP_REPOSITORY"] = .some(nil)
            #expect(try command.run().exitCode == 0)
            #expect(try contentsOfFile(file) == Self.content)
        }
    }

    @Test("a placeholder whose snapshot is gone is backed up as it is, and told of")
    func lostSnapshot() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            let other = backup.base.appending("other")
            try tool("cp", "-r", try emptyRepository(), other)
            // Found where the journal says, whatever repository the backup goes to.
            var plan = backup.command(["plan", "--excluded-only", backup.source])
            plan.environment["RESVAL_BACKUP_REPOSITORY"] = "\(other)"
            #expect(try plan.run().text.contains("1 left out"))
            // A repository that was moved is known by the tag.
            let hidden = backup.base.appending("hidden")
            try tool("mv", backup.repository, hidden)
            plan.environment["RESVAL_BACKUP_REPOSITORY"] = "\(hidden)"
            #expect(try plan.run().text.contains("1 left out"))
            plan.environment["RESVAL_BACKUP_REPOSITORY"] = "\(other)"
            let lost = try plan.run()
            #expect(lost.exitCode == 3, "\(lost)")
            #expect(lost.errorText.contains("\(file): is evicted, and snapshot "))
            #expect(lost.text.contains("0 left out"))
            try tool("mv", hidden, backup.repository)
            try backup.restic("forget", "--tag", "resval-hold=x", "--keep-last", "1")
            let hold = try backup.restic("snapshots", "--json")
            let identifier = try #require(
                hold.split(separator: #""short_id":""#).dropFirst().first?.prefix(8))
            try backup.restic("forget", String(identifier))
            let create = try backup.run("create", backup.source)
            #expect(create.exitCode == 3, "\(create)")
            #expect(create.errorText.contains("with its content was not found"))
            #expect(create.text.contains("0 left out"))
            #expect(!create.errorText.contains("changed while"))
        }
    }

    @Test("an ordinary user evicts own files and brings them back; root does not take them")
    func ordinaryUser() throws {
        let tree = Tree { File("file", Self.content).permissions(0o444) }
        try withBackup(of: tree, user: 1234) { backup in
            let file = backup.source.appending("file")
            try tool("chown", "1234:1234", file)
            let foreign = BackupFixture(base: backup.base, user: nil)
            #expect(try foreign.run("evict", file).errorText.contains("another user"))
            try backup.runSuccessfully("evict", file)
            #expect(try isPlaceholder(file))
            let create = try backup.run("create", backup.source)
            #expect(create.exitCode == 0, "\(create)")
            #expect(create.text.contains("1 left out"))
            #expect(try foreign.run("download", file).exitCode == 1)
            try backup.runSuccessfully("download", file)
            #expect(try contentsOfFile(file) == Self.content)
            #expect(try file.status().permissions == 0o444)
        }
    }

    @Test("programs see it through Foundation's keys, and evict and download by its methods")
    func foundation() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            func ubiquitous(_ work: String) throws -> CommandResult {
                var command = Command(.built("ubiquitous-tool"), work, file)
                command.environment = backup.environment
                return try command.run()
            }
            #expect(try ubiquitous("status").text == "false current nil nil nil false\n")
            #expect(try ubiquitous("download").text == "false current nil nil nil false\n")
            #expect(
                try ubiquitous("evict").text == "true notDownloaded true false nil true\n")
            #expect(try isPlaceholder(file))
            let hidden = backup.base.appending("hidden")
            try tool("mv", backup.repository, hidden)
            let failed = try ubiquitous("download").text
            #expect(failed.hasPrefix("true notDownloaded true false there is no repository"))
            try tool("mv", hidden, backup.repository)
            #expect(try ubiquitous("download").text == "false current nil nil nil false\n")
            #expect(try contentsOfFile(file) == Self.content)
            try tool("ln", file, backup.source.appending("twin"))
            let refused = try ubiquitous("evict")
            #expect(refused.exitCode == 1)
            #expect(refused.text.contains("2 names"))
            try tool("rm", file)
            #expect(try ubiquitous("evict").text.hasPrefix("error 4:"))
        }
    }
}
