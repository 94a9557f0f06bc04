import SystemPackage
import TestSupport
import Testing

@Suite("Trouble with the repository")
struct RepositoryTroubleTests {
    private static let tree = Tree { File("file", "text") }

    @Test("a wrong password is 12, an absent repository 10, each with what to do")
    func passwordAndAbsence() throws {
        try withBackup(of: Self.tree) { backup in
            try Tree { File("wrong", "wrong\n") }.create(in: backup.base)
            for arguments in [["snapshots"], ["create", "\(backup.source)"]] {
                let wrong = try backup.command(
                    arguments + ["--password-file", backup.base.appending("wrong")]
                ).run()
                #expect(wrong.exitCode == 12, "\(wrong)")
                #expect(wrong.errorText.contains("check --password-file"))
                let absent = try backup.command(
                    arguments + ["--repository", backup.base.appending("absent")]
                ).run()
                #expect(absent.exitCode == 10, "\(absent)")
                #expect(absent.errorText.contains("resval-backup init"))
            }
        }
    }

    @Test("no password, a missing password file and an empty one are told apart")
    func noPassword() throws {
        try withBackup(of: Self.tree) { backup in
            try Tree { File("empty") }.create(in: backup.base)
            var none = backup.command(["snapshots"])
            none.environment["RESTIC_PASSWORD_FILE"] = .some(nil)
            let results = [
                try none.run(),
                try backup.run("snapshots", "--password-file", backup.base.appending("absent")),
                try backup.run("snapshots", "--password-file", backup.base.appending("empty")),
            ]
            #expect(results.map(\.exitCode) == [1, 1, 1])
            #expect(results[0].errorText.contains("no password was given"))
            #expect(results[1].errorText.contains("the password cannot be read"))
            #expect(results[2].errorText.contains("the password is empty"))
        }
    }

    @Test("a password in the environment opens the repository, and an option beats it")
    func passwordSources() throws {
        try withBackup(of: Self.tree) { backup in
            var variable = backup.command(["snapshots"])
            variable.environment["RESTIC_PASSWORD_FILE"] = .some(nil)
            variable.environment["RESTIC_PASSWORD"] = "correct horse"
            var command = backup.command(["snapshots"])
            command.environment["RESTIC_PASSWORD_FILE"] = .some(nil)
            command.environment["RESTIC_PASSWORD_COMMAND"] = "echo correct horse"
            var option = backup.command(
                ["snapshots", "--password-file", backup.base.appending("password")])
            option.environment["RESTIC_PASSWORD_COMMAND"] = "false"
            option.environment["RESTIC_PASSWORD"] = "wrong"
            option.environment["RESTIC_REPOSITORY_FILE"] = "/nowhere"
            for command in [variable, command, option] {
                let result = try command.run()
                #expect(result.exitCode == 0, "\(result)")
            }
        }
    }

    @Test("without restic on PATH the message says how to get it")
    func resticMissing() throws {
        try withBackup(of: Self.tree) { backup in
            var command = backup.command(["create", backup.source])
            command.environment["PATH"] = "\(backup.base)"
            let result = try command.run()
            #expect(result.exitCode == 1)
            #expect(result.errorText.contains("apt install restic"))
        }
    }

    @Test("a repository is made in an empty directory only, and once")
    func initialization() throws {
        try withBackup(of: Self.tree) { backup in
            #expect(try backup.run("init").exitCode == 1)
            let full = try backup.run("init", "--repository", backup.source)
            #expect(full.exitCode == 1)
            #expect(full.errorText.contains("not empty"))
            #expect(try TreeListing(of: backup.source).items.count == 2)
        }
    }

    @Test("a repository that cannot be written to is refused at once, with what to look at")
    func readOnly() throws {
        try withBackup(of: Self.tree, user: 54321) { backup in
            try tool("chmod", "a-w", backup.repository.appending("locks"))
            let start = ContinuousClock.now
            let result = try backup.run("create", backup.source)
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.errorText.contains("check its owner, permissions and mount options"))
            #expect(ContinuousClock.now - start < .seconds(10))
        }
    }

    @Test("a repository that someone works on alone is 11, names the holder, and is left alone")
    func locked() throws {
        try withBackup(of: Self.tree) { backup in
            // The holder has its lock and waits for an index that nobody ever writes.
            let script = """
                index=$1/index/$(printf %064d 0); mkfifo "$index"
                $RESTIC check >/dev/null 2>&1 & holder=$!
                until ls "$1/locks" | grep -qE '^[0-9a-f]{64}$'; do sleep 0.02; done
                "$RESVAL" create "$2"; code=$?
                ls "$1/locks" | wc -l
                kill -INT $holder; wait $holder
                rm "$index"
                exit $code
                """
            let result = try backup.script(script, backup.repository, backup.source)
            #expect(result.exitCode == 11, "\(result)")
            #expect(result.errorText.contains("is locked by PID "))
            #expect(result.errorText.contains("wait until it is done"))
            #expect(result.text == "1\n")
            #expect(try backup.run("create", backup.source).exitCode == 0)
        }
    }

    @Test("a lock whose process was killed is removed, and the backup runs")
    func deadLock() throws {
        try withBackup(of: Self.tree) { backup in
            let script = """
                index=$1/index/$(printf %064d 0); mkfifo "$index"
                $RESTIC check >/dev/null 2>&1 & holder=$!
                until ls "$1/locks" | grep -qE '^[0-9a-f]{64}$'; do sleep 0.02; done
                kill -KILL $holder; wait $holder
                rm "$index"
                ls "$1/locks" | wc -l
                "$RESVAL" create "$2" >/dev/null; code=$?
                ls "$1/locks" | wc -l
                exit $code
                """
            let result = try backup.script(script, backup.repository, backup.source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.text == "1\n0\n")
        }
    }
}
