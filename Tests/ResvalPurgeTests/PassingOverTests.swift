import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import EffectiveValues
@testable import PurgePlanning

@Suite("What resval-purge run does when a unit is kept", .cleansUp)
struct PassingOverTests {
    private let tree = Tree {
        for index in 0..<6 { File(".cache/app/c\(index)", contentOfOneMebibyte) }
    }

    /// Runs `resval-purge run` while the first two units are open.
    private func run(_ home: PurgeHome, _ options: String) throws -> CommandResult {
        try home.shell(
            """
            exec 8< .cache/app/c0 9< .cache/app/c1
            "$0" run . --min-age 0 \(options) 8<&- 9<&-
            """)
    }

    private func isKept(_ name: String, in home: PurgeHome) -> String {
        "resval-purge: \(home(".cache/app/\(name)")): is kept: it, or a file in it, is in use "
            + "by another process\n"
    }

    @Test(
        "goes on with the units that come next, and reports what it passed over",
        arguments: ["--free 2M", "--free 2M --partial"])
    func goesOn(options: String) throws {
        let home = try measuredHome { tree }
        let result = try run(home, options)
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.errorText == isKept("c0", in: home) + isKept("c1", in: home))
        #expect(
            result.text.contains("deleted 2 paths, 2.0 MiB; 2 paths kept, 2.0 MiB; "),
            "\(result)")
        #expect(result.text.hasSuffix(" available now, 2.0 MiB more than before\n"))
        #expect(try home.units == "c0 c1 c4 c5")
    }

    @Test("goes on until so much is available")
    func untilAvailable() throws {
        let home = try measuredHome { tree }
        let space = try filesystemStatus(of: home.home)
        let available = Int64(space.availableBlocks * space.fragmentSize)
        try run(home, "--until-available \(available + 1 << 20)B").expect(exits: 0)
        #expect(home(".cache/app/c1").exists)
        #expect(!home(".cache/app/c2").exists)
        #expect(home(".cache/app/c5").exists)
    }

    @Test("a rehearsal goes on as well, and deletes nothing")
    func rehearsal() throws {
        let home = try measuredHome { tree }
        let result = try run(home, "--free 2M --dry-run")
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.errorText == isKept("c0", in: home) + isKept("c1", in: home))
        #expect(result.text.contains("/.cache/app/c2\n"))
        #expect(result.text.contains("/.cache/app/c3\n"))
        #expect(
            result.text.hasSuffix(
                "2 paths would be deleted, 2.0 MiB; 2 paths kept, 2.0 MiB\n"))
        #expect(try home.units == "c0 c1 c2 c3 c4 c5")
    }

    @Test("goes on after a ROOT that was a unit itself and is gone")
    func roots() throws {
        let home = try measuredHome { tree }
        let result = try home.shell(
            """
            exec 9< .cache/app/c1
            "$0" run .cache/app/c{0..5} --free 2M --min-age 0 9<&-
            """)
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.errorText == isKept("c1", in: home))
        #expect(try home.units == "c1 c3 c4 c5")
    }

    @Test("ends short when nothing comes next")
    func short() throws {
        let home = try measuredHome { tree }
        try run(home, "--free 6M").expect(exits: 1, says: " short of the 6.0 MiB wanted\n")
        #expect(try home.units == "c0 c1")
    }

    @Test("a plan in a file is all that is deleted")
    func planFile() throws {
        let home = try measuredHome { tree }
        _ = try home.run("plan", ".", "--free", "2M", "--min-age", "0", "--output", "plan.json")
        let result = try home.shell(
            "exec 9< .cache/app/c0; \"$0\" run plan.json --min-age 0 9<&-")
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.errorText.hasPrefix(isKept("c0", in: home)))
        #expect(try home.units == "c0 c2 c3 c4 c5")
        let json = try home.shell(
            """
            "$0" plan . --free 1M --min-age 0 --output plan.json >/dev/null
            exec 9< .cache/app/c0; "$0" run plan.json --min-age 0 --json 9<&-
            """)
        #expect(json.text.contains("\"reason\":\"in-use\""), "\(json)")
    }

    @Test("deletes nothing else in place of what is in use of a list")
    func list() throws {
        let home = try measuredHome { tree }
        let result = try home.shell(
            """
            printf '.cache/app/c0\\0' > list; exec 9< .cache/app/c0
            "$0" run .cache --free 1M --files0-from list --min-age 0 9<&-
            """)
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.errorText.hasPrefix(isKept("c0", in: home)))
        #expect(try home.units == "c0 c1 c2 c3 c4 c5")
    }
}

@Suite("What resval-purge run finishes and reaches", .cleansUp)
struct ReachingTests {
    @Test("each ROOT that is a unit itself is deleted: a marked directory, and one in caches")
    func roots() throws {
        let home = try measuredHome {
            Directory("build") { Directory("deep") { File("file", contentOfOneMebibyte) } }
                .purgeable()
            Directory("other") { File("file", contentOfOneMebibyte) }.purgeable()
            File(".cache/app/unit/file", contentOfOneMebibyte)
        }
        let roots = ["build", "other", ".cache/app/unit"]
        let result = try home.run(arguments: ["run"] + roots + ["--free", "3M", "--min-age", "0"])
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.errorText == "")
        for root in roots { #expect(!home(root).exists, "\(root)") }
    }

    @Test("a ROOT inside a unit is kept, for the reason that applies")
    func insideUnit() throws {
        let home = try measuredHome { File(".cache/app/unit/file", contentOfOneMebibyte) }
        let result = try home.run(
            "run", ".cache/app/unit/file", "--free", "1M", "--min-age", "0", "--kept")
        expect(
            result, exits: 1,
            prints:
                "kept  \(home(".cache/app/unit/file")): it lies in a directory that is "
                + "deleted whole or not at all\n",
            complains:
                "resval-purge: nothing can be deleted to free 1.0 MiB (--kept shows what "
                + "is kept and why)\n")
    }

    /// Puts a directory aside, as a purge that is interrupted then.
    private func putAside(
        _ unit: FilePath, in home: PurgeHome, _ state: AsideRecord.State
    ) throws -> AsideRecord {
        let filesystems = MountedFilesystems()
        let status = try unit.status()
        let parent = unit.removingLastComponent()
        let record = AsideRecord(
            state: state, identity: filesystems.identity(of: status),
            parent: filesystems.identity(of: try parent.status()), parentPath: parent.bytes,
            name: unit.lastName.bytes, asideName: AsideName.make(), newestChange: .now,
            knownInodes: state == .deleting ? [status.identity.inode] : nil)
        try PurgeJournal(in: home(".local/state/resval/purge")).store([record])
        try tool("mv", unit, FilePath(bytes: record.asidePath))
        return record
    }

    @Test("an interrupted removal is finished first, also when nothing else can be deleted")
    func leftovers() throws {
        let tree = Tree { File(".cache/app/unit/file", block) }
        for arguments in [["run", ".", "--free", "1G", "--min-age", "0"], ["watch", "--once"]] {
            let home = try measuredHome { tree }
            let unit = home(".cache/app/unit")
            let record = try putAside(unit, in: home, .deleting)
            let result = try home.run(arguments: arguments)
            let finished =
                "resval-purge: \(unit): an interrupted purge had begun to remove it; it is "
                + "removed now\n"
            #expect(result.errorText.hasPrefix(finished), "\(result)")
            #expect(result.exitCode == (arguments[0] == "run" ? 1 : 0))
            #expect(!FilePath(bytes: record.asidePath).exists)
        }
    }

    @Test("what an interrupted purge left and stays is told once")
    func toldOnce() throws {
        let home = try measuredHome {
            File(".cache/app/unit/file", block)
            File(".cache/app/file", block)
        }
        let unit = home(".cache/app/unit")
        let record = try putAside(unit, in: home, .aside)
        // Something new has its name.
        try tool("mkdir", unit)
        let result = try home.run("run", ".", "--free", "1B", "--min-age", "0")
        #expect(result.exitCode == 0, "\(result)")
        let name = String(decoding: record.asideName, as: UTF8.self)
        let lines = result.errorText.split(separator: "\n").filter { $0.contains(name) }
        #expect(lines.count == 1, "\(result)")
    }

    @Test("what a purge put aside and no journal names is told, and stays")
    func putAside() throws {
        let home = try measuredHome {
            Directory(".cache/app/.resval-purge-1") { File("file", block) }
            Directory("build/.resval-purge-2") { File("file", block) }
            File(".cache/app/unit/file", block)
        }
        let options = [".", "--min-age", "0"]
        for words in [["status"], ["plan", "--free", "1B"], ["run", "--free", "1B"]] {
            let result = try home.run(arguments: words + options)
            for name in [".cache/app/.resval-purge-1", "build/.resval-purge-2"] {
                let line = "resval-purge: \(home(name)): a purge put it, or something in it, aside"
                #expect(result.errorText.contains(line), "\(result)")
                #expect(home(name).appending("file").exists)
            }
        }
    }

    @Test("on a full disk with nothing but directories the journal is in $XDG_RUNTIME_DIR")
    func fullDisk() throws {
        let tree = Tree { File(".cache/app/unit/file", block) }
        let elsewhere = try temporaryDirectory { Directory("runtime").permissions(0o700) }
        let home = try measuredHome { tree }
        for size in ["64K", "1K"] {
            _ = try home.run(
                "/bin/dd",
                arguments: [
                    "if=/dev/zero", "bs=\(size)", "status=none", "of=filler-\(size)",
                ])
        }
        let options = ["run", ".", "--free", "1B", "--min-age", "0"]
        try home.run(arguments: options).expect(
            exits: 2, says: "there is no room for the journal")
        #expect(home(".cache/app/unit").exists)
        let runtime = elsewhere.appending("runtime")
        let result = try home.run(
            arguments: options, environment: ["XDG_RUNTIME_DIR": runtime.string])
        #expect(result.exitCode == 0, "\(result)")
        #expect(!home(".cache/app/unit").exists)
    }

    @Test("what needs --free says so")
    func arguments() throws {
        let home = try measuredHome { Directory("build") }
        expect(
            try home.run("run", "build"), exits: 64,
            complains: "resval-purge: build: is a directory; add --free SIZE\n")
        try home.run("run", "build", "--free", "0").expect(
            exits: 64, says: "--free needs a size greater than 0")
    }
}
