import SystemPackage
import TestSupport
import Testing

/// A repository that another machine serves, and a network that is cut while much is on its way.
@Suite("A network that is cut")
struct CutNetworkTests {
    private func addLargeFile(_ backup: BackupFixture, _ name: FileName) throws {
        let file = backup.source.appending(name)
        try tool("dd", "if=/dev/urandom", "of=\(file)", "bs=1M", "count=40", "status=none")
    }

    private func expectRestored(_ backup: BackupFixture) throws {
        let restored = try TreeListing(of: backup.restored(backup.source))
        #expect(try restored.differences(from: TreeListing(of: backup.source)) == [])
    }

    /// `resval-backup` with the repository by SFTP.
    ///
    /// - Parameter limits: how many bytes a connection carries to and from the server before it is cut,
    ///   as `ssh` ends it.
    private func sftp(
        _ backup: BackupFixture, limits: (up: Int, down: Int) = (1 << 30, 1 << 30),
        _ arguments: any CommandArgument...
    ) throws -> CommandResult {
        let ssh = """
            trap 'exit 255' TERM
            pass() {
                dd bs=64k iflag=count_bytes count="$1" status=none
                [ "$(head -c 1 | wc -c)" = 0 ] || kill $$
            }
            exec 3<&0
            pass \(limits.up) <&3 3<&- | "\(try #require(FilePath.tool("sftp-server")))" |
                pass \(limits.down) &
            exec <&- 3<&-
            wait
            """
        var command = try backup.with("ssh", ssh, backup.command(arguments))
        command.environment["RESVAL_BACKUP_REPOSITORY"] = "sftp:server:\(backup.repository)"
        return try command.run()
    }

    @Test("SFTP: no snapshot is made, what is not restored is named, and the next ones succeed")
    func sftp() throws {
        try require(.tool("sftp-server"))
        try withBackup(of: Tree { File("small", "text") }) { backup in
            try addLargeFile(backup, "large")
            let cut = 20 << 20
            let create = try sftp(backup, limits: (cut, 1 << 30), "create", backup.source)
            #expect(create.exitCode == 1, "\(create)")
            #expect(create.errorText.contains("ssh command exited"), "\(create)")
            #expect(try backup.snapshotCount() == 0)
            let next = try sftp(backup, "create", backup.source)
            #expect(next.exitCode == 0, "\(next)")
            let restore = try sftp(
                backup, limits: (1 << 30, cut), "restore", "latest", "--target", backup.target)
            #expect(restore.exitCode == 3, "\(restore)")
            #expect(restore.errorText.contains("/large: "), "\(restore)")
            let again = try sftp(
                backup, "restore", "latest", "--target", backup.target, "--overwrite")
            #expect(again.exitCode == 0, "\(again)")
            try expectRestored(backup)
            // Locks that cannot be reached stay, and keep out what needs the repository for itself.
            #expect(try sftp(backup, "verify").exitCode == 11)
            try backup.restic("unlock")
            try backup.restic("check", "--read-data")
        }
    }

    @Test("REST: what comes back in time is waited for, and what is silent ends with SIGTERM")
    func rest() throws {
        try require(.tool("rclone"))
        try withBackup(of: Tree { File("small", "text") }) { backup in
            try addLargeFile(backup, "first")
            let script = """
                cd "$1"
                serve() {
                    rclone serve restic --addr "127.0.0.1:$1" served >> server.log 2>&1 &
                    server=$!
                }
                trap 'kill -KILL $server 2>/dev/null' EXIT
                mkdir served programs
                serve 0
                for _ in $(seq 100); do
                    port=$(sed -n 's|.*http://127.0.0.1:\\([0-9]*\\)/.*|\\1|p' server.log)
                    [ -z "$port" ] || break
                    sleep 0.1
                done
                export RESVAL_BACKUP_REPOSITORY="rest:http://127.0.0.1:$port/"
                printf '#!/bin/sh\\nexec "%s" --limit-upload 10000 --limit-download 10000 "$@"' \\
                    "$(command -v restic)" > programs/restic
                chmod +x programs/restic
                PATH=$PWD/programs:$PATH
                packs() { find served/data -type f | wc -l; }
                "$RESVAL" init || exit 1
                restart() { kill -KILL $server; wait $server 2>/dev/null; sleep 2; serve "$port"; }

                "$RESVAL" create "$2" >> log 2>&1 & backup=$!
                until [ "$(packs)" -gt 0 ]; do sleep 0.05; done
                restart
                wait $backup; echo "create $?"

                head -c 40M /dev/urandom > "$2/second"
                before=$(packs)
                "$RESVAL" create "$2" >> log 2>&1 & backup=$!
                until [ "$(packs)" -gt "$before" ]; do sleep 0.05; done
                kill -STOP $server
                start=$(date +%s)
                kill -TERM $backup; wait $backup; echo "stopped $?"
                [ $(($(date +%s) - start)) -lt 40 ] || echo "too late"
                kill -CONT $server
                "$RESVAL" create "$2" >> log 2>&1; echo "next $?"
                ls served/snapshots | wc -l

                "$RESVAL" restore latest --target target >> log 2>&1 & backup=$!
                until find target -name second 2>/dev/null | grep -q .; do sleep 0.05; done
                restart
                wait $backup; echo "restore $?"
                for command in unlock 'check --read-data'; do
                    restic -q -r "$RESVAL_BACKUP_REPOSITORY" $command >> log 2>&1 || echo "$command"
                done
                """
            let result = try backup.script(script, backup.base, backup.source)
            let log = try tool("cat", backup.base.appending("log"))
            #expect(
                result.text == """
                    create 0
                    stopped 143
                    next 0
                    2
                    restore 0

                    """, "\(result) \(log)")
            try expectRestored(backup)
        }
    }
}
