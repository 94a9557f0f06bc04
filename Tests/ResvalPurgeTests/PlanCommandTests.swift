import EffectiveValues
import PurgePlanning
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge plan", .cleansUp)
struct PlanCommandTests {
    private let tree = Tree {
        Directory("Documents") { File("marked", block).purgeable() }
        File(".cache/app/unit/file", block)
        File("marked", block).purgeable()
        File("plain", block)
    }

    @Test("counts what several ROOTs lead to once, and no database with an unmarked journal")
    func rootsAndJournals() throws {
        let home = try purgeHome {
            Directory("z") { File("file", block) }.purgeable()
            SymbolicLink("link", to: "z")
            File("db", block).purgeable()
            File("db-wal", block)
        }
        for root in ["z/", "link", "z/file"] {
            let result = try home.run(
                "plan", "z", root, "--free", "8K", "--min-age", "0", "--smallest", "0")
            #expect(result.text.contains("marked: 1 of 1 path"), "\(result)")
        }
        let result = try home.run(
            "plan", ".", "--free", "100K", "--min-age", "0", "--smallest", "0", "--kept")
        #expect(result.text.contains("marked: 1 of 1 path"), "\(result)")
        #expect(result.text.contains("/db: it and a file beside it"), "\(result)")
    }

    @Test("shows what would go, by class and age, and what is kept")
    func table() throws {
        let home = try purgeHome { tree }
        let result = try home.run("plan", ".", "--free", "20K", "--min-age", "0", "--kept")
        #expect(result.exitCode == 0)
        #expect(result.errorText == "")
        let lines = result.text.split(separator: "\n").map { withoutAge(String($0)) }
        #expect(
            lines == [
                "kept \(home.home)/Documents: it is or contains a protected directory",
                "CLASS AGE SIZE PATH", "caches 12.0 KiB \(home.home)/.cache/app/unit/",
                "marked 8.0 KiB \(home.home)/marked",
                "caches: 1 of 1 path, 12.0 KiB of 12.0 KiB",
                "marked: 1 of 1 path, 8.0 KiB of 8.0 KiB",
                "total: 20.0 KiB in 2 paths; wanted 20.0 KiB",
                "kept: 1 protected-directory",
            ])
    }

    @Test("writes a file of its own, never through a link and never onto another user's")
    func output() throws {
        try require(.root)
        let home = try purgeHome {
            Directory(".cache") { Directory("app") { Directory("unit") { File("file", block) } } }
            File("own", "old").permissions(0o666).attribute("user.other", "x")
            File("foreign", "old").owned(by: 1234)
            File("target", "old")
            SymbolicLink("link", to: "target")
        }
        func plan(_ name: String) throws -> CommandResult {
            try home.run("plan", ".", "--free", "1K", "--min-age", "0", "--output", name)
        }
        for (name, complaint) in [
            ("foreign", "belongs to another user"), ("link", "is not a regular file"),
        ] {
            try plan(name).expect(exits: 2, says: "\(name): \(complaint)")
        }
        for name in ["foreign", "target"] {
            try #expect(contentsOfFile(home(name)) == Array("old".utf8))
        }
        for name in ["own", "new"] {
            try #expect(plan(name).exitCode == 0)
            let status = try home(name).status()
            #expect(status.permissions == 0o600 && status.owner == 0)
            #expect(try home.run("run", name, "--min-age", "0", "--dry-run").exitCode == 0)
        }
        #expect(try home("own").extendedAttribute(named: "user.other") == nil)
    }

    /// A line with single spaces, and without the age in its second column.
    private func withoutAge(_ line: String) -> String {
        line.split(separator: " ").enumerated()
            .filter {
                $0.offset != 1 || $0.element.first?.isNumber != true || !$0.element.hasSuffix("s")
            }
            .map { String($0.element) }.joined(separator: " ")
    }

    @Test("says what is missing, exits with 1 and writes no file, unless part of it will do")
    func shortfall() throws {
        let home = try purgeHome { tree }
        let arguments = ["plan", ".", "--free", "1M", "--min-age", "0", "--output", "plan.json"]
        let result = try home.run(arguments: arguments)
        #expect(result.exitCode == 1)
        #expect(
            result.errorText == """
                resval-purge: only 20.0 KiB of 1.0 MiB can be freed, 1004.0 KiB short \
                (--kept shows what is kept and why, run --partial accepts less)

                """)
        let plan = try PurgePlan(json: contentsOfFile(home("plan.json")))
        #expect(plan.units.count == 2 && plan.wantedBytes == 1 << 20)
        #expect(plan.roots == [home.home])
        try home.run("plan", "--free", "100T", "--min-age", "0").expect(
            exits: 1,
            says: "name directories with other marks: resval-purge plan DIR --free SIZE)")
    }

    @Test("is the same in JSON, in records that end with NUL, and in the plan that is written")
    func forms() throws {
        let home = try purgeHome {
            Directory(".cache/app") { for name in HostileNames.all { File(name, block) } }
        }
        let options = ["plan", ".", "--free", "1G", "--min-age", "0"]
        let nul = try home.run(arguments: options + ["-0"])
        #expect(nul.exitCode == 1)
        let names = nul.output.split(separator: 0).map { Array($0) }
        let app = home(".cache/app/").bytes + [UInt8(ascii: "/")]
        #expect(Set(names) == Set(HostileNames.all.map { app + $0.bytes }))
        let plan = try PurgePlan(json: home.run(arguments: options + ["--output", "-"]).output)
        #expect(plan.units.map(\.path) == names)
        let json = try home.run(arguments: options + ["--json"])
        let lines = json.output.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == names.count + 1)
        #expect(json.text.contains("\"pathBase64\":"))
        #expect(!json.output.contains(0x1B))
        let table = try home.run(arguments: options)
        #expect(table.output.count { $0 == UInt8(ascii: "\n") } == names.count + 4)
        #expect(!table.output.contains(0x1B))
    }

    @Test("keeps what is younger than a day when nothing is said of ages")
    func defaultAge() throws {
        let home = try purgeHome { tree }
        try home.run("plan", ".", "--free", "1B").expect(
            exits: 1,
            prints: "kept: 2 too-young (used or changed less than 24h ago), 1 protected-directory\n"
        )
    }

    @Test("says in words what looks like a cache but isn't")
    func notACache() throws {
        let home = try purgeHome {
            Directory(".cache/app/repository/.git")
            File(".cache/app/repository/file", block)
        }
        try home.run("plan", ".", "--free", "1B", "--min-age", "0").expect(
            exits: 1, says: "nothing can be deleted", prints: "1 only like a cache")
    }

    @Test("reaches what shall be available, or has nothing to do")
    func untilAvailable() throws {
        let home = try purgeHome { tree }
        let enough = try home.run("plan", ".", "--until-available", "0%", "--min-age", "0")
        expect(
            enough, exits: 0,
            prints: """
                caches: 0 of 1 path, 0 B of 12.0 KiB
                marked: 0 of 1 path, 0 B of 8.0 KiB
                total: 0 B in 0 paths; wanted 0 B
                kept: 1 protected-directory

                """)
        try home.run("plan", ".", "--until-available", "100%", "--min-age", "0").expect(exits: 1)
    }

    @Test("records for other programs how much may go")
    func record() throws {
        let home = try measuredHome { tree }
        #expect(try home.run("plan", ".", "--free", "1B", "--min-age", "0").exitCode == 0)
        let records = PurgeRecords(stateHome: home(".local/state"))
        let device = try home.home.status().identity.device
        #expect(try records.record(forDevice: device)?.bytes == 11 << 10)
        #expect(try home.run("run", ".", "--free", "1B", "--min-age", "0").exitCode == 0)
        #expect(try records.record(forDevice: device)?.bytes == 5 << 10)
    }

    @Test("keeps what backup settings and options name")
    func protected() throws {
        let home = try purgeHome {
            Directory(".config/resval") {
                File(
                    "backup.toml",
                    "sources = [\"~\"]\n repository = 'local:~/.cache/app/repository'\n")
            }
            Directory(".cache/app") {
                for name in ["repository", "password", "mine", "fine"] {
                    Directory("\(name)") { File("file", block) }
                }
                File("key", block)
            }
        }
        let password = home(".cache/app/password/file").string
        let result = try home.run(
            "plan", ".", "--free", "12K", "--min-age", "0", "-0", "--protect",
            ".cache/app/mine", "--protect", ".cache/app/key",
            environment: ["RESTIC_PASSWORD_FILE": password])
        #expect(result.text == "\(home.home)/.cache/app/fine\0")
    }

    @Test("says the same of one tree each time, also why several reasons keep a unit")
    func repeated() throws {
        let tree = Tree {
            Directory(".cache") {
                for app in 0..<40 {
                    Directory("app\(app)") {
                        for unit in 0..<5 {
                            Directory("unit\(unit)") {
                                Directory("a") { File("pinned", block).purgeable(false) }
                                Directory("b") { Socket("socket") }
                                Directory("c") { Directory(".git") { File("config", block) } }
                            }
                        }
                    }
                }
            }
        }
        let home = try purgeHome { tree }
        let words = ["plan", ".", "--free", "1G", "--min-age", "0", "--kept", "--json"]
        // The first one makes the directory of state, which is then one of the tree.
        _ = try home.run(arguments: words)
        let first = try home.run(arguments: words)
        #expect(first.text.split(separator: "\n").count > 200)
        for _ in 0..<10 { #expect(try home.run(arguments: words).text == first.text) }
    }

    @Test("warns of a setting that would make the home a cache, and does not heed it")
    func hostileEnvironment() throws {
        let home = try purgeHome { tree }
        let result = try home.run(
            "plan", ".", "--free", "1B", "--min-age", "0", "-0",
            environment: ["XDG_CACHE_HOME": home.home.string])
        #expect(result.text == "\(home.home)/marked\0")
        #expect(
            result.errorText == """
                resval-purge: \(home.home): warning: $XDG_CACHE_HOME is ignored as a location, \
                because it is a home

                """)
    }

    @Test("says once that reading is not recorded, and that ages are those of the last change")
    func unrecordedUse() throws {
        let home = try measuredHome {
            Directory(".cache") { Directory("app") { File("file", block) } }
        }
        let arguments = [".", "--free", "1B", "--min-age", "0"]
        let usual = try home.run(arguments: ["plan"] + arguments)
        #expect(usual.errorText.isEmpty && usual.text.hasPrefix("CLASS       AGE  "))
        let root = home.home.removingLastComponent()
        try tool("mount", "-o", "remount,noatime", root)
        for command in [["plan"], ["run"]] {
            let result = try home.run(arguments: command + arguments)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.errorText.split(separator: "\n").count == 1, "\(result)")
            #expect(result.errorText.contains(": is mounted with noatime: "), "\(result)")
            #expect(result.text.hasPrefix("CLASS   WRITTEN  "), "\(result)")
        }
    }

    @Test("says that reading is recorded once a day where less is asked for, but for any age")
    func delayedUse() throws {
        let home = try measuredHome {
            Directory(".cache") { Directory("app") { File("file", block) } }
        }
        for (age, isTold) in [("0", false), ("24h", false), ("23h", true)] {
            let result = try home.run("plan", ".", "--free", "1B", "--min-age", age)
            #expect(
                result.errorText.contains(": is mounted with relatime: ") == isTold, "\(result)")
        }
    }

    @Test("files of nearly 2^63 bytes, with times of any year, end no plan and no run")
    func extremes() throws {
        let home = PurgeHome(home: try filesystem(.btrfs) { File(".cache/app/file", block) }.root)
        for (size, time) in [
            ("9223372036854775807", "@9223372036854775807"),
            ("9223372036854775806", "@-9223372036854775807"),
        ] {
            let file = home(".cache/app/\(size)")
            try tool("truncate", "--size", size, file)
            try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "true", file)
            try tool("touch", "--date", time, file)
        }
        let found = try home.run(.built("resval"), arguments: ["find", "--size", "."])
        #expect(found.text.split(separator: "\n").count == 2, "\(found)")
        let plan = try home.run("plan", "--free", "8K", "--min-age", "0", "--kept", "--json", ".")
        #expect(plan.exitCode == 0, "\(plan)")
        try home.run("plan", "--free", "8K", "--min-age", "0", "--kept", ".").expect(exits: 0)
        try home.run("run", "--free", "4K", "--min-age", "0", "--dry-run", ".").expect(exits: 0)
    }
}
