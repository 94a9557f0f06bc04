import SystemPackage
import TestSupport
import Testing

/// Several machines and one repository, on servers of three protocols on the loopback.
@Suite("A repository on a server", .cleansUp)
struct ServerTests {
    @Test(
        "the whole life of a backup works, with the same exit codes",
        arguments: RepositoryServer.allCases)
    func life(server: RepositoryServer) throws {
        try server.requireProgram()
        let backup = try backup {
            File("file", String(repeating: "text", count: 5000))
            File(FileName([0x66, 0xFF]), "text")
        }
        let script =
            "cd \"$1\"\n" + server.script + """
                use "$port"
                run() { name=$1; shift; "$RESVAL" "$@" >> out.log 2>> err.log; echo "$name $?"; }
                run absent create source
                run init init
                cheapen
                run again init
                run create create source
                run second create source
                run snapshots snapshots
                echo wrong > wrong
                run wrong snapshots --password-file wrong
                run show show latest --excluded
                run restore restore --snapshot latest --target target
                run verify verify latest --read-data
                run evict evict source/file
                stat -c %a source/file
                run download download source/file
                head -c 4 source/file; echo
                run third create source
                run forget forget --keep-last 1 --prune
                # With the one that keeps what was evicted, which stays for a week.
                "$RESVAL" snapshots --json | wc -l
                kill $server; wait $server 2>/dev/null
                [ $2 = true ] || run gone create source
                """
        // restic asks such a server that is gone for minutes.
        let waitsLong = server != .sftp
        let result = try backup.script(script, backup.base, "\(waitsLong)")
        let messages = try tool("cat", backup.base.appending("err.log"))
        #expect(
            result.text == """
                absent 10
                init 0
                again 1
                create 0
                second 0
                snapshots 0
                wrong 12
                show 0
                restore 0
                verify 0
                evict 0
                0
                download 0
                text
                third 0
                forget 0
                2
                \(waitsLong ? "" : "gone 1\n")
                """, "\(result) \(messages)")
        try backup.expectRestored()
    }

    /// Runs a script in a repository on a server, with a large file in the SOURCE, its second argument.
    ///
    /// - Returns: the result, and the log of the script.
    private func run(
        _ script: String, _ server: RepositoryServer, _ backup: BackupFixture
    ) throws -> (result: CommandResult, log: String) {
        try backup.addNoise(megabytes: 40)
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

    @Test("SFTP: no snapshot is made, what is not restored is named, and the next ones succeed")
    func sftp() throws {
        let server = RepositoryServer.sftp
        try server.requireProgram()
        let backup = try backup { File("small", "text") }
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
        try backup.expectRestored()
    }

    @Test("REST: what is silent ends with SIGTERM, and the next one succeeds")
    func silence() throws {
        let server = RepositoryServer.rest
        try server.requireProgram()
        let backup = try backup { File("small", "text") }
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
