import SystemPackage
import TestSupport
import Testing

@Suite("Trouble with the repository", .cleansUp)
struct RepositoryTroubleTests {
    private static let tree = Tree { File("file", "text") }

    @Test("a wrong password is 12, an absent repository 10, each with what to do")
    func passwordAndAbsence() throws {
        let backup = try backup(of: Self.tree)
        let (wrong, absent) = (backup.base.appending("wrong"), backup.base.appending("absent"))
        try Tree { File("wrong", "wrong\n") }.create(in: backup.base)
        for words in [["snapshots"], ["create", "\(backup.source)"]] {
            let wrong = try backup.command(words + ["--password-file", wrong]).run(exits: 12)
            #expect(wrong.errorText.contains("check \(backup.base)/wrong"))
            try backup.command(words + ["--repository", absent]).run(
                exits: 10, says: "resval-backup init")
        }
    }

    @Test("a password comes from the environment, or before that from an option, else it is missed")
    func passwords() throws {
        let backup = try backup(of: Self.tree)
        try Tree { File("empty") }.create(in: backup.base)
        func snapshots(
            _ variables: [String: String], file: String? = nil, exits code: Int32 = 0
        ) throws -> String {
            var command = backup.command(["snapshots"])
            if let file {
                command = backup.command(
                    ["snapshots", "--password-file", backup.base.appending(file)])
            }
            command.environment["RESTIC_PASSWORD_FILE"] = .some(nil)
            command.environment.merge(variables) { $1 }
            return try command.run(exits: code).errorText
        }
        _ = try snapshots(["RESTIC_PASSWORD": repositoryPassword])
        _ = try snapshots(["RESTIC_PASSWORD_COMMAND": "echo \(repositoryPassword)"])
        let others = [
            "RESTIC_PASSWORD_COMMAND": "false", "RESTIC_PASSWORD": "wrong",
            "RESTIC_REPOSITORY_FILE": "/nowhere",
        ]
        _ = try snapshots(others, file: "password")
        try #expect(snapshots([:], exits: 1).contains("no password was given"))
        try #expect(
            snapshots([:], file: "absent", exits: 1).contains("the password cannot be read"))
        try #expect(snapshots([:], file: "empty", exits: 1).contains("the password is empty"))
    }

    @Test("without restic on PATH the message says how to get it")
    func resticMissing() throws {
        let backup = try backup(of: Self.tree)
        var command = backup.command(["create", backup.source])
        command.environment["PATH"] = "\(backup.base)"
        try command.run(exits: 1, says: "apt install restic")
    }

    @Test("a repository is made in an empty directory only, and once")
    func initialization() throws {
        let backup = try backup(of: Self.tree)
        try backup.run("init", exits: 1)
        try backup.run("init", "--repository", backup.source, exits: 1, says: "not empty")
        #expect(try TreeListing(of: backup.source).items.count == 2)
    }

    @Test(
        "without descriptors to spare every command says so at once, and what it made is whole",
        arguments: [8, 10, 12, 14, 16, 18, 20, 24, 32, 48])
    func descriptors(limit: Int) throws {
        let backup = try backup { for n in 0..<30 { Directory("\(n)") { File("f") } } }
        for words in ["create '\(backup.source)'", "snapshots", "verify"] {
            let result = try backup.script("ulimit -n \(limit); exec \"$RESVAL\" \(words)")
            #expect(
                result.exitCode == 0
                    || result.exitCode == 1
                        && result.errorText.lowercased().contains("too many open files"),
                "\(words) with \(limit): \(result)")
        }
    }

    @Test("where /tmp is full, restic and the record take another directory")
    func fullTemporaryDirectory() throws {
        let backup = try backup {}
        try backup.addNoise(megabytes: 40)
        let script = """
            mkdir "$1/small"
            mount -t tmpfs -o size=64k tmpfs "$1/small"
            head -c 100000 /dev/zero > "$1/small/full" 2>/dev/null
            TMPDIR="$1/small" "$RESVAL" create "$2"
            """
        try backup.script(script, backup.base, backup.source, unsharing: "--mount")
            .expect(exits: 0)
        try backup.runSuccessfully("verify", "latest")
    }
}
