import SystemPackage
import TestSupport
import Testing

/// Several machines and one repository: restic's REST protocol, spoken by rclone on the loopback.
@Suite("A repository on a server")
struct RestServerTests {
    @Test("the whole life of a backup works over REST, with the same exit codes")
    func life() throws {
        try require(.tool("rclone"))
        let tree = Tree {
            File("file", "text")
            File(FileName([0x66, 0xFF]), "text")
        }
        try withBackup(of: tree) { backup in
            try tool("mkdir", backup.base.appending("served"))
            let script = """
                rclone serve restic --addr 127.0.0.1:0 "$1/served" > "$1/server.log" 2>&1 &
                server=$!
                trap 'kill $server 2>/dev/null' EXIT
                for _ in $(seq 100); do
                    address=$(grep -o 'http://127.0.0.1:[0-9]*/' "$1/server.log") && break
                    sleep 0.1
                done
                export RESVAL_BACKUP_REPOSITORY="rest:$address"
                cd "$1"
                run() { name=$1; shift; "$RESVAL" "$@" >> out.log 2>> err.log; echo "$name $?"; }
                run absent create source
                run init init
                run again init
                run create create source
                run second create source
                echo wrong > wrong
                run wrong snapshots --password-file wrong
                run show show latest --excluded
                run restore restore latest --target target
                run verify verify latest --read-data
                run forget forget --keep-last 1 --prune
                "$RESVAL" snapshots --json | wc -l
                kill $server; wait $server 2>/dev/null
                [ $2 = true ] || run gone create source
                """
            // A newer restic asks a server that is gone for a quarter of an hour.
            let isPatient = try resticMinorVersion() >= 17
            let result = try backup.script(script, backup.base, "\(isPatient)")
            let messages = try tool("cat", backup.base.appending("err.log"))
            #expect(
                result.text == """
                    absent 10
                    init 0
                    again 1
                    create 0
                    second 0
                    wrong 12
                    show 0
                    restore 0
                    verify 0
                    forget 0
                    1
                    \(isPatient ? "" : "gone 1\n")
                    """, "\(result) \(messages)")
            let (before, after) = (
                try TreeListing(of: backup.source),
                try TreeListing(of: backup.restored(backup.source))
            )
            #expect(after.differences(from: before) == [])
        }
    }
}
