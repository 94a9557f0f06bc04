import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Backups that are cut off", .cleansUp)
struct InterruptionTests {
    /// Takes restic a few seconds, since it does not compress or repeat.
    private func largeBackup() throws -> BackupFixture {
        let backup = try backup { File("small", "text") }
        try backup.addNoise(megabytes: 400)
        return backup
    }

    private static let begin = """
        "$RESVAL" create "$2" & backup=$!
        until ls "$1/locks" | grep -q . && ls "$1"/data/*/* >/dev/null 2>&1; do sleep 0.02; done
        """

    private func checkNextRun(_ backup: BackupFixture) throws {
        try backup.create()
        try backup.ageLocks()
        try backup.runSuccessfully("prune")
        // Needs the repository for itself, so no lock is left; reads all data.
        try backup.restic("check", "--read-data")
        #expect(try backup.runSuccessfully("snapshots").split(separator: "\n").count == 2)
    }

    @Test("killed with -9, it takes restic along, and the next run succeeds and reads clean")
    func killedBackup() throws {
        let backup = try largeBackup()
        let script =
            Self.begin + """

                restic=$(pgrep -P $backup -x restic)
                kill -KILL $backup; wait $backup; code=$?
                for _ in $(seq 100); do kill -0 $restic 2>/dev/null || break; sleep 0.05; done
                kill -0 $restic 2>/dev/null && echo alive
                exit $code
                """
        let result = try backup.script(script, backup.repository, backup.source)
        #expect(result.exitCode == 137, "\(result)")
        #expect(result.text == "")
        try checkNextRun(backup)
    }

    @Test("killed before it is judged, a snapshot displaces none that was")
    func killedBeforeVerdict() throws {
        let backup = try backup { for number in 0..<9 { File("\(number)", "text") } }
        try backup.create()
        // restic misses a file, and tells nobody.
        let script = """
            if [ "$1" = backup ]; then
                mv "\(backup.source)/1" "\(backup.base)"
                "$REAL" "$@"
                mv "\(backup.base)/1" "\(backup.source)"
                kill -KILL $PPID
                exit
            fi
            """
        let killed = try backup.command(["create", backup.source], before: script).run()
        #expect(killed.exitCode != 0, "\(killed)")
        #expect(try backup.snapshotCount() == 2)
        let forget = try backup.run("forget", "--keep-last", "1")
        #expect(forget.text.contains("  last"), "\(forget)")
        #expect(try backup.snapshotCount() == 2)
        try backup.create()
        #expect(try backup.forget() == 1)
    }

    @Test("restic killed with -9 is a failure that says so, and the next run succeeds")
    func killedRestic() throws {
        let backup = try largeBackup()
        let script =
            Self.begin + """

                kill -KILL $(pgrep -P $backup -x restic)
                wait $backup
                """
        try backup.script(script, backup.repository, backup.source).expect(
            exits: 1, says: "restic was ended by signal 9")
        try checkNextRun(backup)
    }

    @Test("a restore whose restic is killed replaces nothing, also after it named an item")
    func killedRestore() throws {
        let backup = try backup { for name in ["file", "other"] { File("\(name)", "old") } }
        try backup.create()
        try shell("for file in \"$1\"/*; do echo new > \"$file\"; done", backup.source)
        let script = """
            if [ "$1" = restore ]; then
                "$REAL" "$@" | grep -v '"summary"'
                echo '{"message_type":"error","error":{"message":"no"},"item":"\(backup("other"))"}' >&2
                kill -KILL $$
            fi
            """
        try backup.command(["restore", "--overwrite", backup.source], before: script).run(
            exits: 1, says: "restic was ended by signal 9")
        for name in ["file", "other"] {
            #expect(try contentsOfFile(backup(name)) == Array("new\n".utf8))
        }
    }

    @Test(
        "SIGINT and SIGTERM end it as signals do, without lock or snapshot",
        arguments: [("INT", 130), ("TERM", 143)])
    func stopped(signal: String, code: Int32) throws {
        let backup = try largeBackup()
        // A shell starts background commands with SIGINT ignored; env sets that right.
        let begin = Self.begin.replacing(
            #""$RESVAL""#, with: #"env --default-signal=INT "$RESVAL""#)
        let script =
            begin + """

                kill -\(signal) $backup; wait $backup; code=$?
                ls "$1/locks" | wc -l
                exit $code
                """
        let result = try backup.script(script, backup.repository, backup.source)
        #expect(result.exitCode == code, "\(result)")
        #expect(result.text == "0\n")
        try checkNextRun(backup)
    }

    @Test("restic interrupted while it locks leaves its lock, which is removed once it is dead")
    func interruptedWhileLocking() throws {
        let backup = try backup { File("a", "text") }
        // restic waits 200 ms between making a lock and remembering it.
        let script = """
            case $1 in backup|prune)
                (until ls \(backup.repository)/locks | grep -q .; do :; done; kill -INT $$) & ;;
            esac
            """
        for arguments in [["create", "\(backup.source)"], ["prune"]] {
            try backup.command(arguments, before: script).run(exits: 130)
            // On a busy machine restic remembers it first, and removes it.
            #expect(try backup.locks().count <= 1)
            try backup.ageLocks()
            try backup.create()
            // Needs the repository for itself.
            try backup.restic("check")
        }
    }

    @Test("a full disk is named, and with less to store the next run succeeds")
    func diskFull() throws {
        try require(.root)
        let volume = try filesystem(.tmpfs)
        let backup = try largeBackup()
        let repository = volume.root.appending("repository")
        try tool("cp", "-r", backup.repository, repository)
        try backup.run(
            "create", "--repository", repository, backup.source, exits: 1,
            says: "no space left", "make room")
        try tool("rm", backup("large"))
        // Packs that no snapshot needs were left; restic needs a little room to go on.
        try tool("mount", "-o", "remount,size=64m", volume.root)
        try backup.run("create", "--repository", repository, backup.source, exits: 0)
    }
}
