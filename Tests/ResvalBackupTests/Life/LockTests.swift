import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Locks whose processes died", .cleansUp)
struct LockTests {
    private static let tree = Tree { File("file", "text") }
    private static let forge = packageRoot.appending("Tests/Helpers/forge-lock/forge-lock.py")

    /// Leaves the exclusive lock of a `restic check` that was killed.
    private func leaveLock(in backup: BackupFixture) throws {
        // It has its lock and reads an index that is never written.
        let script = """
            index=$1/index/$(printf %064d 0); mkfifo "$index"; exec 3<>"$index"
            $RESTIC check >/dev/null 2>&1 3>&- & holder=$!
            until ls "$1/locks" | grep -q . && ls -l /proc/$holder/fd | grep -qF "$index"; do
                sleep 0.02
            done
            kill -KILL $holder; wait $holder; rm "$index"
            """
        let result = try backup.script(script, backup.repository)
        #expect(try backup.locks().count == 1, "\(result)")
    }

    /// Adds a lock of another machine.
    ///
    /// - Returns: its identifier.
    private func addLock(
        to backup: BackupFixture, minutesAgo minutes: Int, kind: String
    ) throws -> String {
        let script = """
            $RESTIC cat masterkey --no-lock |
                /usr/bin/python3 "$1" "$2" \(minutes) \(kind)
            """
        let result = try backup.script(script, Self.forge, backup.repository.appending("locks"))
        #expect(result.exitCode == 0, "\(result)")
        return String(result.text.prefix { $0 != "\n" })
    }

    @Test("in a directory a lock is waited for, and removed alone once it was seen for 31 minutes")
    func directory() throws {
        let backup = try backup(of: Self.tree)
        try leaveLock(in: backup)
        let create = try backup.command(["create", backup.source], before: "")
        for _ in 0..<2 {
            let refused = try create.run(
                exits: 11, says: "is locked by PID ", "lock was created at 2", "waiting for 5m",
                "unchanged for 31 minutes")
            #expect(!refused.errorText.contains("unlock"), "\(refused)")
            #expect(try backup.locks().count == 1)
        }
        try backup.ageLocks()
        let young = try addLock(to: backup, minutesAgo: 40, kind: "shared")
        let result = try create.run(exits: 0)
        #expect(!result.errorText.contains("lock"), "\(result)")
        #expect(try backup.locks() == [young])
    }

    @Test("a lock that its process renews stays, however old it is by this machine's clock")
    func renewed() throws {
        let backup = try backup(of: Self.tree)
        let create = try backup.command(["create", backup.source], before: "")
        _ = try addLock(to: backup, minutesAgo: 60, kind: "exclusive")
        try backup.ageLocks()
        for lock in try backup.locks() {
            try tool("rm", backup.repository.appending("locks").appending(lock))
        }
        let lock = try addLock(to: backup, minutesAgo: 40, kind: "exclusive")
        for _ in 0..<2 {
            try create.run(exits: 11, says: "PID 4711 on elsewhere by ada")
        }
        #expect(try backup.locks() == [lock])
    }

    @Test("on FUSE a lock stays, and how to go on is said; not so where that has a block device")
    func fuse() throws {
        for (type, name, isFUSE): (UInt32?, String?, Bool) in [
            (nil, nil, true), (0x6573_5546, nil, true), (0x6573_5546, "fuse.sshfs", true),
            (0x6573_5546, "fuseblk", false), (0xEF53, "ext4", false),
        ] {
            #expect(Restic.isFUSE(type, name) == isFUSE, "\(name ?? "unknown")")
        }
        try require(.root, .tool("bindfs"))
        let backup = try backup(of: Self.tree)
        try leaveLock(in: backup)
        let shown = backup.base.appending("shown")
        try tool("mv", backup.repository, shown)
        try tool("mkdir", backup.repository)
        try tool("bindfs", shown, backup.repository)
        try afterwards { _ = try? tool("umount", "-l", backup.repository) }
        try backup.ageLocks()
        try backup.command(["create", backup.source], before: "").run(
            exits: 11, says: "remove the files in its directory locks")
        #expect(try backup.locks().count == 1)
    }

    @Test("where sights cannot be kept no lock is dead")
    func noState() throws {
        let backup = try backup(of: Self.tree)
        try leaveLock(in: backup)
        try backup.ageLocks()
        try tool("chmod", "o+w", backup.base.appending("home/.local/state/resval"))
        try backup.command(["create", backup.source], before: "").run(exits: 11)
        #expect(try backup.locks().count == 1)
    }

    @Test("what only reads does so without a lock, says so once, and leaves the other's")
    func reading() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try leaveLock(in: backup)
        for words in [
            ["snapshots"], ["show", "latest", "--items"],
            ["restore", "--snapshot", "latest", "--target", "\(backup.target)"],
            ["verify", "--read-data"],
        ] {
            let result = try backup.command(words).run(exits: 0)
            let notices = result.errorText.split(separator: "\n").filter {
                $0.contains("so it is read without")
            }
            #expect(notices.count == 1, "\(result)")
        }
        #expect(try backup.locks().count == 1)
    }

    @Test("SIGINT ends the wait for a lock with 130")
    func interrupted() throws {
        let backup = try backup(of: Self.tree)
        try leaveLock(in: backup)
        let script = """
            env --default-signal=INT "$RESVAL" create "$2" 2> "$1/log" & create=$!
            for _ in $(seq 200); do
                grep -q 'waiting for 5m' "$1/log" && break
                sleep 0.05
            done
            sleep 1
            kill -INT $create; wait $create
            """
        let start = ContinuousClock.now
        try backup.script(script, backup.base, backup.source).expect(exits: 130)
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect(try backup.locks().count == 1)
    }

    @Test(
        "on a server locks are removed under a host name that no other has, and only if all are dead"
    )
    func server() throws {
        try RepositoryServer.rest.requireProgram()
        try require(.tool("unshare"), .tool("hostname"))
        let backup = try backup(of: Self.tree)
        _ = try backup.command([], before: "")
        let script =
            "cd \"$1\"\n" + RepositoryServer.rest.script + """
                use "$port"
                PATH=$PWD/programs:$PATH
                run() { name=$1; shift; "$RESVAL" "$@" >> out.log 2>> err.log; echo "$name $?"; }
                lock() {
                    restic -q -r "$RESVAL_BACKUP_REPOSITORY" cat masterkey --no-lock |
                        /usr/bin/python3 "$2" served/locks $1 exclusive
                }
                run init init
                cheapen
                mkdir -p served/locks
                lock 40 "$2" > dead
                run refused create source
                sed -i 's/[0-9]*$/1860/' home/.local/state/resval/backup/locks-*
                lock 1 "$2" > young
                run beside create source
                ls served/locks | sort > left
                sort dead young | cmp - left && echo both
                rm "served/locks/$(cat young)"
                hostname > before
                run create create source
                hostname | cmp - before
                ls served/locks | wc -l
                """
        let result = try backup.script(script, backup.base, Self.forge)
        let messages = try tool("cat", backup.base.appending("err.log"))
        #expect(
            result.text == """
                init 0
                refused 11
                beside 11
                both
                create 0
                0

                """, "\(result) \(messages)")
    }
}
