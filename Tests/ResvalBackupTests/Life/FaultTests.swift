import SystemPackage
import TestSupport
import Testing

/// Commands of `resval-backup` that start restic, with a fault at one of the starts.
@Suite("Faults of restic", .cleansUp)
struct FaultTests {
    /// What a script in restic's place does once: `$REAL` is the real one.
    private enum Fault: String, CaseIterable {
        case fails = "echo 'Fatal: injected' >&2; exit 1"
        case isKilled = "kill -KILL $$"
        case tellsNothing = "exit 0"
        case tellsNonsense = "echo '{\"a}}]'; head -c 3000 /dev/urandom; exit 0"
        case endsInTheMiddle = """
            "$REAL" "$@" > "$FAULTS/output"; code=$?
            head -c $(($(stat -c %s "$FAULTS/output") / 2)) "$FAULTS/output"; exit $code
            """
        case failsWhenDone = "\"$REAL\" \"$@\"; exit 1"
        case cannotBeStarted = "exit 127"
        case hangs = "kill -TERM $PPID; exec sleep 1000"
    }

    private static let tree = Tree {
        File("file", "text")
        Directory("directory") {
            File("large", Array(repeating: Array("0123456789".utf8), count: 20_000).flatMap { $0 })
        }
    }

    /// The script counts its starts by directories, which are made or found at once.
    private func command(
        _ backup: BackupFixture, _ arguments: [any CommandArgument], _ fault: Fault, at start: Int
    ) throws -> Command {
        let faults = backup.base.appending("faults")
        try tool("rm", "-rf", faults)
        try tool("mkdir", faults)
        return try backup.command(
            arguments,
            before: """
                FAULTS='\(faults)'
                number=1
                while ! mkdir "$FAULTS/$number" 2>/dev/null; do number=$((number + 1)); done
                if [ "$number" = \(start) ]; then
                \(fault.rawValue)
                fi
                """)
    }

    /// How often a command starts restic.
    private func startCount(
        _ backup: BackupFixture, _ arguments: [any CommandArgument]
    ) throws -> Int {
        _ = try command(backup, arguments, .fails, at: 0).run()
        return try starts(backup)
    }

    private func starts(_ backup: BackupFixture) throws -> Int {
        try tool("ls", backup.base.appending("faults")).split(separator: "\n").count
    }

    /// As many faults as ``killCount`` says, each at another start of restic or another one.
    @Test(
        "a fault at any start of restic is an error, and loses nothing",
        arguments: [
            ["create", "SOURCE"], ["accept"], ["snapshots", "--json"], ["prune"],
            ["restore", "--snapshot", "latest", "--target", "TARGET"],
            ["verify", "latest", "--read-data"],
            ["forget", "--keep-last", "1", "--prune"],
        ])
    func fault(words: [String]) throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try backup.exclude(backup("file"))
        try backup.create()
        if ["create", "forget", "prune"].contains(words[0]) {
            try backup.runSuccessfully("accept")
        }
        // Makes something to prune.
        if words[0] == "prune" { try backup.restic("forget", "--keep-last", "1") }
        let home = backup.base.appending("home")
        let saved = backup.base.appending("saved")
        try tool("mkdir", saved)
        try tool("cp", "-a", backup.repository, home, saved)
        let arguments = words.map { word -> any CommandArgument in
            switch word {
            case "SOURCE": backup.source
            case "TARGET": backup.target
            default: word
            }
        }
        let count = try startCount(backup, arguments)
        #expect(count > 0)
        let pairs = (1...count).flatMap { start in Fault.allCases.map { (start, $0) } }
        for (start, fault) in pairs.shuffled().prefix(killCount) {
            try tool("rm", "-rf", backup.repository, home, backup.target)
            let states = ["repository", "home"].map(saved.appending)
            try tool("cp", "-a", states[0], states[1], backup.base)
            let result = try command(backup, arguments, fault, at: start).run()
            let comment: Comment = "\(words) \(fault) at \(start) of \(count): \(result)"
            if result.exitCode == 0 {
                try checkSuccess(words[0], backup, comment)
                // What fails to read a record is asked once more.
                if words[0] == "verify" { try #expect(starts(backup) > count, comment) }
            } else {
                #expect((result.end == .signal(15)) == (fault == .hangs), comment)
                #expect(fault == .hangs || !result.errorText.isEmpty, comment)
            }
            try backup.runSuccessfully("verify", "--read-data")
            let kept = try backup.snapshotCount()
            #expect(kept >= (["forget", "prune"].contains(words[0]) ? 1 : 2), comment)
        }
    }

    /// What exit 0 promises is there although restic had a fault.
    private func checkSuccess(
        _ command: String, _ backup: BackupFixture, _ comment: Comment
    ) throws {
        switch command {
        case "create": #expect(try backup.snapshotCount() == 3, comment)
        case "restore":
            let restored = backup.restored(backup.source).appending("directory/large")
            try tool("cmp", backup("directory/large"), restored)
        case "accept":
            #expect(try backup.run("forget", "--keep-last", "9").exitCode == 0, comment)
        case "forget", "prune":
            #expect(try backup.snapshotCount() == 1, comment)
            let packs = try tool("ls", "-R", backup.repository.appending("data"))
            try backup.restic("prune")
            #expect(try tool("ls", "-R", backup.repository.appending("data")) == packs, comment)
        case "verify": break
        default: Issue.record(comment)
        }
    }
}
