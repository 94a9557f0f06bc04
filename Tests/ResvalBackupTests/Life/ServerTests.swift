import SystemPackage
import TestSupport
import Testing

/// Several machines and one repository, on servers of three protocols on the loopback.
@Suite("A repository on a server")
struct ServerTests {
    @Test(
        "the whole life of a backup works, with the same exit codes",
        arguments: RepositoryServer.allCases)
    func life(server: RepositoryServer) throws {
        try server.requireProgram()
        let tree = Tree {
            File("file", "text")
            File(FileName([0x66, 0xFF]), "text")
        }
        try withBackup(of: tree) { backup in
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
                    cat source/file; echo
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
            let (before, after) = (
                try TreeListing(of: backup.source),
                try TreeListing(of: backup.restored(backup.source))
            )
            #expect(after.differences(from: before) == [])
        }
    }

    /// Those that a server refuses are not tried: restic asks again for minutes.
    @Test(
        "S3: credentials that are missing are named in restic's words, and are no absent repository"
    )
    func credentials() throws {
        try RepositoryServer.s3.requireProgram()
        try withBackup(of: Tree { File("file", "text") }) { backup in
            let script =
                "cd \"$1\"\n" + RepositoryServer.s3.script + """
                    use "$port"
                    AWS_ACCESS_KEY_ID= "$RESVAL" create source; echo "key $?"
                    AWS_SECRET_ACCESS_KEY= "$RESVAL" snapshots; echo "secret $?"
                    """
            let result = try backup.script(script, backup.base)
            #expect(result.text == "key 1\nsecret 1\n", "\(result)")
            let lines = result.errorText.split(separator: "\n")
            #expect(lines.count == 2, "\(result)")
            for line in lines {
                #expect(line.contains("_KEY) is empty") || line.contains("_KEY_ID) is empty"))
                #expect(!line.contains("there is no repository"), "\(line)")
            }
        }
    }
}
