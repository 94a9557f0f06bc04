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
                    run restore restore latest --target target
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
            let waitsLong = try waitsLong(for: server)
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

    @Test("S3: credentials that the server refuses are named, and are no absent repository")
    func credentials() throws {
        try RepositoryServer.s3.requireProgram()
        // Newer versions try again for minutes.
        guard try resticMinorVersion() < 17 else { return }
        try withBackup(of: Tree { File("file", "text") }) { backup in
            let script =
                "export INITIAL_NO_AUTH_ACTION_COUNT=3\ncd \"$1\"\n" + RepositoryServer.s3.script
                    + """
                    use "$port"
                    cat > keys.py <<'END'
                    import boto3, json, sys
                    client = boto3.client(
                        "iam", endpoint_url=sys.argv[1], region_name="us-east-1",
                        aws_access_key_id="any", aws_secret_access_key="any")
                    client.create_user(UserName="tester")
                    allowed = {"Effect": "Allow", "Action": "*", "Resource": "*"}
                    client.put_user_policy(
                        UserName="tester", PolicyName="all",
                        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [allowed]}))
                    key = client.create_access_key(UserName="tester")["AccessKey"]
                    print(key["AccessKeyId"], key["SecretAccessKey"])
                    END
                    /opt/resval-test-tools/python/bin/python keys.py "http://127.0.0.1:$port" > keys
                    read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY < keys
                    "$RESVAL" init 2> err.log; echo "right $?"
                    AWS_SECRET_ACCESS_KEY=wrong "$RESVAL" snapshots; echo "secret $?"
                    AWS_ACCESS_KEY_ID=wrong "$RESVAL" create source; echo "key $?"
                    AWS_ACCESS_KEY_ID= "$RESVAL" create source; echo "none $?"
                    """
            let result = try backup.script(script, backup.base)
            #expect(result.text == "right 0\nsecret 1\nkey 1\nnone 1\n", "\(result)")
            let lines = result.errorText.split(separator: "\n")
            #expect(lines.count == 3, "\(result)")
            for line in lines {
                #expect(line.hasPrefix("resval-backup: the server refuses the credentials: "))
                #expect(line.contains("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"), "\(line)")
            }
        }
    }

    /// Whether restic asks a server that is gone for minutes.
    private func waitsLong(for server: RepositoryServer) throws -> Bool {
        switch server {
        case .rest: try resticMinorVersion() >= 17
        case .s3: true
        case .sftp: false
        }
    }
}
