import SystemPackage
import TestSupport
import Testing

/// A repository that another machine serves, and a network that is cut while much is on its way.
@Suite("A network that is cut")
struct CutNetworkTests {
    private func addLargeFile(_ backup: BackupFixture) throws {
        let file = backup.source.appending("large")
        try tool("dd", "if=/dev/urandom", "of=\(file)", "bs=1M", "count=40", "status=none")
    }

    /// Runs a script in a repository on a server, with a large file in the SOURCE, its second argument.
    ///
    /// - Returns: the result, and the log of the script.
    private func run(
        _ script: String, _ server: RepositoryServer, _ backup: BackupFixture
    ) throws -> (result: CommandResult, log: String) {
        try addLargeFile(backup)
        let begin = """
            use "$port"
            "$RESVAL" init > log 2>&1 || exit 1
            cheapen

            """
        // Locks that could not be removed stay, and keep out what needs the repository for itself.
        let check = """

            for command in unlock 'check --read-data'; do
                restic -q -r "$RESVAL_BACKUP_REPOSITORY" $command >> log 2>&1 || echo "$command"
            done
            """
        let result = try backup.script(
            "cd \"$1\"\n" + server.script + begin + script + check, backup.base, backup.source)
        return (result, try tool("cat", backup.base.appending("log")))
    }

    private func expectRestored(_ backup: BackupFixture) throws {
        try backup.expectRestored()
    }

    @Test("SFTP: no snapshot is made, what is not restored is named, and the next ones succeed")
    func sftp() throws {
        let server = RepositoryServer.sftp
        try server.requireProgram()
        try withBackup(of: Tree { File("small", "text") }) { backup in
            let script = """
                run() { name=$1; shift; "$RESVAL" "$@" > "$name.log" 2>&1; echo "$name $?"; }
                relay cut 20000000 1000000000
                use "$relay_port"
                run create create "$2"
                use "$port"
                "$RESVAL" snapshots --json | wc -l
                run next create "$2"
                relay cut 1000000000 20000000
                use "$relay_port"
                run restore restore --snapshot latest --target target
                use "$port"
                run again restore --snapshot latest --target target --overwrite
                run verify verify
                """
            let (result, log) = try run(script, server, backup)
            let create = try tool("cat", backup.base.appending("create.log"))
            let restore = try tool("cat", backup.base.appending("restore.log"))
            #expect(
                result.text == """
                    create 1
                    0
                    next 0
                    restore 3
                    again 0
                    verify 0

                    """, "\(result) \(log) \(create) \(restore)")
            #expect(create.contains("ssh command exited"))
            #expect(restore.contains("/large: "))
            try expectRestored(backup)
        }
    }

    @Test(
        "REST, S3: what comes back in time is waited for",
        arguments: [RepositoryServer.rest, .s3])
    func pause(server: RepositoryServer) throws {
        try server.requireProgram()
        try withBackup(of: Tree { File("small", "text") }) { backup in
            let script = """
                relay pause 20000000 1000000000
                use "$relay_port"
                "$RESVAL" create "$2" >> log 2>&1; echo "create $?"
                # Where it listened before the cut, and again after it.
                wc -l < relay-port
                kill $relay
                relay pause 1000000000 20000000
                use "$relay_port"
                "$RESVAL" restore --snapshot latest --target target >> log 2>&1; echo "restore $?"
                wc -l < relay-port
                use "$port"
                "$RESVAL" snapshots --json | wc -l
                """
            let (result, log) = try run(script, server, backup)
            #expect(
                result.text == """
                    create 0
                    2
                    restore 0
                    2
                    1

                    """, "\(result) \(log)")
            try expectRestored(backup)
        }
    }

    @Test("REST: what is silent ends with SIGTERM, and the next one succeeds")
    func silence() throws {
        let server = RepositoryServer.rest
        try server.requireProgram()
        try withBackup(of: Tree { File("small", "text") }) { backup in
            let script = """
                relay stall 20000000 1000000000
                use "$relay_port"
                "$RESVAL" create "$2" >> log 2>&1 & backup=$!
                is_silent() { grep -q '^State:.T' "/proc/$relay/status"; }
                until_true is_silent
                start=$(date +%s)
                kill -TERM $backup; wait $backup; echo "stopped $?"
                [ $(($(date +%s) - start)) -lt 40 ] || echo "too late"
                use "$port"
                "$RESVAL" create "$2" >> log 2>&1; echo "next $?"
                "$RESVAL" snapshots --json | wc -l
                """
            let (result, log) = try run(script, server, backup)
            #expect(result.text == "stopped 143\nnext 0\n1\n", "\(result) \(log)")
        }
    }
}
