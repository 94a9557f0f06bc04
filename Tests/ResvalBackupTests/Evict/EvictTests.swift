import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Evicting files into a repository", .cleansUp)
struct EvictTests {
    @Test("what is refused is named with its reason, and the exit code tells whether all was")
    func refusals() throws {
        let backup = try backup {
            File("file", evictableContent)
            File("excluded", evictableContent).excluded()
            File("twin", evictableContent)
            HardLink("other", to: "twin")
            File("empty", "")
            SymbolicLink("link", to: "file")
        }
        let names = ["excluded", "twin", "link", "missing", "empty"]
        let refused = try backup.command(
            ["evict"] + names.map { backup.source.appending($0) }
        ).run(exits: 1)
        for reason in [
            "excluded from backups", "2 hard links", "not a regular file", "no such file",
        ] {
            #expect(refused.errorText.lowercased().contains(reason.lowercased()), "\(reason)")
        }
        try backup.run(
            "evict", "-R", backup.base.appending("password"), backup.repository, exits: 1,
            says: "it is what gives the password")
        let config = try backup.run("evict", backup.repository.appending("config"))
        #expect(config.errorText.contains("it is in the repository"))
        try backup.run(
            "evict", "--dry-run", "--json", backup("file"), exits: 0,
            prints: #""result":"planned""#)
        try backup.run(
            "evict", "--json", "-R", "--yes", backup.source, exits: 3,
            prints: #""reason":"hard-linked""#)
        #expect(try isPlaceholder(backup("file")))
        try backup.run("evict", backup("file"), exits: 0)
    }

    @Test("what the password or another secret is read from is never evicted")
    func namedInEnvironment() throws {
        let backup = try backup {
            for name in ["key", "cloud", "file"] {
                File(FileName(stringLiteral: name), evictableContent)
            }
        }
        try tool("cp", backup.base.appending("password"), backup("key"))
        try shell(#"truncate -s 300K "$1""#, backup("key"))
        for command in ["head -n1 \(backup("key"))", "sh -c 'head -n1 \(backup("key"))'"] {
            let evict = backup.command(["evict", backup("key"), backup("cloud"), backup("file")])
                .setting([
                    "RESTIC_PASSWORD_FILE": nil, "RESTIC_PASSWORD_COMMAND": command,
                    "RCLONE_CONFIG": "\(backup("cloud"))",
                ])
            let made = try evict.run()
            #expect(made.errorText.contains("what gives the password"), "\(made)")
            #expect(made.errorText.contains("named in the environment"), "\(made)")
            #expect(try !isPlaceholder(backup("key")) && !isPlaceholder(backup("cloud")))
            #expect(try isPlaceholder(backup("file")))
        }
    }

    @Test("what is evicted and downloaded is so to the end, also when nobody can read of it")
    func unread() throws {
        let backup = try backup {
            File("first", evictableContent)
            File("second", evictableContent)
        }
        let files = ["first", "second"].map { backup.source.appending($0) }
        let evicted = try backup.script(
            "\"$RESVAL\" evict --json \"$@\" >/dev/full", files[0], files[1])
        evicted.expect(exits: 1, says: "resval-backup: total: 2 files, ")
        for file in files { #expect(try isPlaceholder(file)) }
        let downloaded = try backup.script("\"$RESVAL\" download \"$@\" >&-", files[0], files[1])
        #expect(downloaded.errorText.contains("resval-backup: total: 2 files, "))
        for file in files { #expect(try contentsOfFile(file) == evictableContent) }
    }

    @Test("the repository need not be named, and a missing snapshot is reported")
    func ownRepository() throws {
        let backup = try backup(of: oneFile)
        let file = backup("file")
        try backup.runSuccessfully("evict", file)
        let other = backup.base.appending("other")
        try tool("cp", "-r", backup.repository, other)
        try backup.runSuccessfully("download", "--repository", other, file)
        try backup.runSuccessfully("evict", file)
        try backup.run(
            "download", "--repository", other, file, exits: 1, says: "is not in the repository")
        #expect(try isPlaceholder(file))
        try backup.command(["download", file]).setting(["RESVAL_BACKUP_REPOSITORY": nil])
            .run(exits: 0)
        #expect(try contentsOfFile(file) == evictableContent)
    }

    @Test("below directories only what is worth it is taken, and only when that is said")
    func recursive() throws {
        let backup = try backup {
            File("large", evictableContent)
            File("small", "text")
            File(".bashrc", evictableContent)
            Directory(".cache") { File("file", evictableContent) }
            File("tagged/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
            File("tagged/file", evictableContent)
        }
        try backup.run("evict", "-R", backup.source, exits: 64, says: "1 file with ", "--yes")
        #expect(try !isPlaceholder(backup("large")))
        let evict = try backup.run("evict", "-R", "--yes", backup.source)
        #expect(evict.text.contains("total: 1 file, "), "\(evict)")
        #expect(try isPlaceholder(backup("large")))
        try backup.runSuccessfully("evict", backup(".bashrc"))
        #expect(try isPlaceholder(backup(".bashrc")))
        try backup.runSuccessfully("download", "-R", backup.source)
        #expect(try !isPlaceholder(backup(".bashrc")))
    }

    @Test("programs see it through Foundation's keys, and evict and download by its methods")
    func foundation() throws {
        let backup = try backup(of: oneFile)
        let file = backup("file")
        func ubiquitous(_ work: String) throws -> CommandResult {
            try Command(
                .built("foundation-tool"), "ubiquitous", work, file, environment: backup.environment
            ).run()
        }
        #expect(try ubiquitous("status").text == "false current nil nil nil false\n")
        #expect(try ubiquitous("download").text == "false current nil nil nil false\n")
        #expect(try ubiquitous("evict").text == "true notDownloaded nil false nil true\n")
        #expect(try isPlaceholder(file))
        try tool("chmod", "644", file)
        #expect(try ubiquitous("status").text == "true notDownloaded nil false nil true\n")
        let hidden = backup.base.appending("hidden")
        try tool("mv", backup.repository, hidden)
        try backup.run("download", file, exits: 10)
        #expect(try ubiquitous("status").text == "true notDownloaded nil false nil true\n")
        try tool("mv", hidden, backup.repository)
        #expect(try ubiquitous("download").text == "false current nil nil nil false\n")
        #expect(try contentsOfFile(file) == evictableContent)
        try tool("ln", file, backup("twin"))
        try ubiquitous("evict").expect(exits: 1, prints: "2 hard links")
        try tool("rm", file)
        #expect(try ubiquitous("evict").text.hasPrefix("error 4:"))
    }
}

/// Content that is long enough to be evicted.
let evictableContent = Array(repeating: Array("0123456789abcdef".utf8), count: 20_000)
    .flatMap { $0 }

/// A SOURCE with one file to evict.
let oneFile = Tree { File("file", evictableContent).purgeable() }

func isPlaceholder(_ path: FilePath) throws -> Bool {
    let status = try path.status()
    return status.permissions == 0 && status.allocatedSize <= 4096
}

extension FilePath {
    /// The names of the attributes that are records of evicted files.
    func evictionNames() throws -> [String] {
        try extendedAttributeNames().map { "\($0)" }
            .filter { $0.hasPrefix("user.resval.evicted.") }
    }
}
