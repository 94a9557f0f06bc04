import Glibc
import PurgePlanning
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge run", .cleansUp)
struct RunCommandTests {
    private let tree = Tree {
        File(".cache/app/first", block)
        File(".cache/app/second", block)
        File("plain", block)
    }

    @Test("deletes what a plan names, as plan showed it, and nothing else")
    func plan() throws {
        let home = try measuredHome { tree }
        try tool("touch", home(".cache/app/second"))
        let planned = try home.run(
            "plan", ".", "--free", "1B", "--min-age", "0", "--output", "plan.json")
        #expect(planned.text.contains("/.cache/app/first\n"))
        let rehearsed = try home.run("run", "plan.json", "--min-age", "0", "--dry-run")
        #expect(rehearsed.exitCode == 0)
        #expect(rehearsed.text.hasSuffix("1 path would be deleted, 5.0 KiB\n"))
        #expect(home(".cache/app/first").exists)
        try home.run("run", "plan.json", "--min-age", "0").expect(
            exits: 0, prints: "/.cache/app/first\ndeleted 1 path, 5.0 KiB; ")
        #expect(try home.units == "second")
        #expect(home("plain").exists)
    }

    @Test("deletes to the end when nobody can read what it prints, and says what it did")
    func unread() throws {
        let home = try measuredHome { tree }
        try tool("touch", home(".cache/app/second"))
        let result = try home.shell(
            "\"$0\" run .cache --free 1M --partial --min-age 0 --smallest 0 --json >/dev/full")
        result.expect(
            exits: 2, says: "resval-purge: deleted 2 paths, 10.0 KiB",
            "cannot write to standard output: ")
        #expect(try home.units == "")
    }

    @Test("deletes what stands both in a list and in the plan made now, and names the rest")
    func list() throws {
        let home = try measuredHome {
            tree
            SymbolicLink(".cache/app/latest", to: "first")
        }
        func run(_ list: String, _ options: String = "--partial") throws -> CommandResult {
            try home.shell(
                """
                printf '\(list)' | "$0" run --files0-from - --free 1M \(options) \
                    --min-age 0 --smallest 0
                """)
        }
        try home.run("run", "--files0-from", "list").expect(exits: 64, says: "give --free or")
        try run(".cache/app/first").expect(exits: 2, says: "the list ends without a NUL")
        try run("\\0").expect(exits: 2, says: "the list contains an empty path")
        for name in ["plain", ".cache/app/latest", "gone", ".cache/app"] {
            try run("\(name)\\0").expect(
                exits: 1, says: "\(home(name)): is not in the plan made now",
                prints: "deleted 0 paths")
        }
        try run(".cache/app/first\\0", "").expect(
            exits: 1, says: "only 5.0 KiB of 1.0 MiB can be freed")
        try run(".cache/app/first\\0", "--partial --dry-run").expect(
            exits: 1, prints: "1 path would be deleted")
        #expect(try home.units == "first latest second")
        try run(".cache/app/../app/first\\0").expect(
            exits: 1, says: "short of the 1.0 MiB wanted",
            prints: "/.cache/app/first\ndeleted 1 path, 5.0 KiB; ")
        #expect(try home.units == "latest second")
        #expect(home("plain").exists)
    }

    @Test("evaluates ages again: what a plan named is kept without its --min-age")
    func ages() throws {
        let home = try measuredHome { tree }
        _ = try home.run("plan", ".", "--free", "1B", "--min-age", "0", "--output", "plan.json")
        try home.run("run", "plan.json").expect(exits: 1, says: "too recently: less than 24h ago\n")
        #expect(home(".cache/app/first").exists)
    }

    @Test("deletes nothing when so much cannot be freed, unless part of it will do")
    func shortfall() throws {
        let home = try measuredHome { tree }
        let refused = try home.run("run", ".", "--free", "1G", "--min-age", "0")
        #expect(refused.exitCode == 1)
        #expect(refused.text == "")
        #expect(refused.errorText.contains("short"))
        #expect(home(".cache/app/first").exists)
        try home.run("run", ".", "--free", "1G", "--min-age", "0", "--partial").expect(exits: 1)
        #expect(try home.units == "")
        #expect(home("plain").exists)
    }

    @Test("refuses a plan that is none, is old, from the future, or of another boot")
    func refused() throws {
        let home = try measuredHome { tree }
        _ = try home.run("plan", ".", "--free", "1B", "--min-age", "0", "--output", "plan.json")
        let plan = try PurgePlan(json: contentsOfFile(home("plan.json")))
        func run(_ changed: PurgePlan) throws -> CommandResult {
            try Tree { File("edited.json", changed.json) }.create(in: home.home)
            defer { _ = try? tool("rm", home("edited.json")) }
            return try home.run("run", "edited.json", "--min-age", "0")
        }
        for change in [-3601, 3601] as [Int64] {
            let created = FileTime(seconds: plan.created.seconds + change, nanoseconds: 0)
            expect(
                try run(
                    PurgePlan(
                        created: created, bootID: plan.bootID, device: plan.device,
                        wantedBytes: 1, roots: plan.roots, units: plan.units)),
                exits: 2,
                complains:
                    "resval-purge: edited.json: the plan is more than an hour old, or from the "
                    + "future\n")
        }
        expect(
            try run(
                PurgePlan(
                    created: plan.created, bootID: "other", device: plan.device,
                    wantedBytes: 1, roots: plan.roots, units: plan.units)),
            exits: 2,
            complains:
                "resval-purge: edited.json: the plan was made before this machine was "
                + "started\n")
        expect(
            try home.run("run", "plain"), exits: 2,
            complains: "resval-purge: plain: is not valid JSON of a plan (byte 0) (make a "
                + "plan with resval-purge plan --output)\n")
        #expect(home(".cache/app/first").exists)
    }

    @Test("frees an ordinary user's space, and leaves what is somebody else's")
    func ordinaryUser() throws {
        try require(.root)
        let user: UInt32 = 65534
        let root = try temporaryDirectory(isShared: true) { Directory("home") }
        let home = PurgeHome(home: root.appending("home"))
        try tree.create(in: home.home)
        try tool("chown", "-R", "\(user)", home.home)
        try Tree { File("foreign", block).purgeable() }.create(in: home(".cache/app"))
        let result = try home.run(
            "run", ".", "--free", "1G", "--partial", "--min-age", "0", "--kept", user: user)
        #expect(result.exitCode == 1, "\(result)")
        #expect(try home.units == "foreign")
        #expect(
            result.text.contains(
                "/.cache/app/foreign: it, or something in it, belongs to another user"))
    }

    @Test("empties read-only directories that a program fetched, and no others")
    func readOnlyDirectories() throws {
        try require(.root)
        let user: UInt32 = 65534
        let root = try temporaryDirectory(isShared: true) {
            Directory("home") {
                Directory(".cache") {
                    for name in ["bazel", "other"] {
                        Directory("\(name)") {
                            Directory("unit") {
                                Directory("deep") { File("file", block) }.permissions(0o555)
                            }.permissions(0o555)
                        }
                    }
                }
            }
        }
        let home = PurgeHome(home: root.appending("home"))
        try tool("chown", "-R", "\(user)", home.home)
        let result = try home.run(
            "run", ".", "--free", "1G", "--partial", "--min-age", "0", "--kept", user: user)
        #expect(!home(".cache/bazel/unit").exists, "\(result)")
        #expect(home(".cache/other/unit/deep/file").exists)
    }

    @Test("keeps a file whose swap file came after the plan")
    func editedSince() throws {
        let home = try measuredHome { tree }
        _ = try home.run("plan", ".", "--free", "1B", "--min-age", "0", "--output", "plan.json")
        try Tree { File(".first.swp", block) }.create(in: home(".cache/app"))
        let result = try home.run("run", "plan.json", "--min-age", "0")
        #expect(
            result.errorText.contains(
                "/.cache/app/first: is kept: \(KeepReason.companion.sentence)"), "\(result)")
        #expect(home(".cache/app/first").exists)
    }

    @Test("beside a writer, exits by what was deleted, and tells what the volume has then")
    func writer() throws {
        let home = try measuredHome {
            for index in 0..<8 { File(".cache/app/c\(index)", contentOfOneMebibyte) }
        }
        // The second unit is open, so there is time after the first is gone.
        let result = try home.shell(
            """
            exec 9< .cache/app/c1
            "$0" run . --free 3M --min-age 0 9<&- & run=$!
            while [[ -e .cache/app/c0 ]]; do sleep 0.01; done
            fallocate -l 9M other
            wait "$run"
            """)
        result.expect(exits: 0, prints: "deleted 3 paths, 3.0 MiB; 1 path kept, 1.0 MiB; ")
        #expect(result.text.hasSuffix(" available now, 6.0 MiB less than before\n"))
        #expect(!result.errorText.contains("short"))
        #expect(try home.units == "c1 c4 c5 c6 c7")
    }

    @Test("SIGHUP ends it between two units, however often it comes")
    func hangup() throws {
        let home = try measuredHome {}
        let result = try home.shell(
            """
            mkdir -p .cache/app/{first,second}
            seq -f '.cache/app/first/%g' 6000 | xargs touch
            touch .cache/app/second/file
            "$0" run . --free 1G --partial --min-age 0 --smallest 0 > /dev/null & run=$!
            for _ in $(seq 100000); do
                compgen -G '.cache/app/.resval-purge-*' > /dev/null && break
            done
            kill -HUP "$run"
            kill -HUP "$run"
            wait "$run"
            echo "exit $?"
            ls -A .cache/app
            """)
        #expect(result.text == "exit 129\nsecond\n", "\(result)")
    }

    @Test("lets only one of a user's purges work at a time")
    func twoAtOnce() throws {
        let home = try measuredHome { tree }
        let state = home(".local/state/resval/purge")
        try tool("mkdir", "-p", state)
        try tool("touch", state.appending("journal"))
        let journal = try openFile(state.appending("journal"), flags: .readWrite)
        #expect(try takeLock(on: journal))
        let options = ["run", ".", "--free", "1B", "--min-age", "0"]
        try home.run(arguments: options).expect(exits: 2, says: "another")
        #expect(home(".cache/app/first").exists)
        try closeFile(journal)
        #expect(try home.run(arguments: options).exitCode == 0)
    }
}
