import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Mass changes of resval: dry runs, journals and undo")
struct MassChangeTests {
    private let tree = Tree {
        Directory("tree") {
            File("excluded").excluded()
            File("plain")
            File("broken").attribute(StoredKey<Bool>.isExcludedFromBackup.attribute, "per\u{1}haps")
            File("kept").excluded(false).protection(.complete)
        }
    }

    /// Runs `resval` in the tree, with a directory for journals beside it.
    private func run(
        _ arguments: any CommandArgument..., in root: FilePath, input: String = ""
    ) throws -> CommandResult {
        var command = Command(.built("resval"), arguments: arguments)
        command.workingDirectory = root.appending("tree")
        command.environment = ["XDG_STATE_HOME": root.appending("state").string]
        command.input = Array(input.utf8)
        return try command.run()
    }

    private func dump(_ root: FilePath) throws -> String {
        try tool("getfattr", "-Rd", "--absolute-names", root.appending("tree"))
    }

    /// The only journal of a run.
    private func journal(in root: FilePath) throws -> FilePath {
        let directory = root.appending("state/resval")
        let names = try tool("ls", directory).split(separator: "\n")
        #expect(names.count == 1)
        return directory.appending(String(try #require(names.first)))
    }

    @Test("a dry run prints what would change, and changes nothing")
    func dryRun() throws {
        try require(.tool("getfattr"))
        try withTemporaryDirectory(containing: tree) { root in
            let before = try dump(root)
            let result = try run("set", "-nR", "excluded=true", ".", in: root)
            #expect(result.exitCode == 0)
            #expect(result.errorText == "")
            #expect(
                Set(result.text.split(separator: "\n")) == [
                    ".: isExcludedFromBackup=true", "./plain: isExcludedFromBackup=true",
                    "./broken: isExcludedFromBackup=true", "./kept: isExcludedFromBackup=true",
                    "items to change: 4",
                ])
            expect(
                try run("unset", "all", "--dry-run", "plain", "kept", in: root), exits: 0,
                prints: """
                    kept: isExcludedFromBackup unset, fileProtection unset
                    items to change: 1

                    """)
            expect(
                try run(
                    "exclude", "-n", "--files0-from", "-", in: root, input: "excluded\0plain\0"),
                exits: 0,
                prints: "plain: isExcludedFromBackup=true\nitems to change: 1\n")
            expect(
                try run("include", "-n", "--no-locations", "excluded", "plain", in: root), exits: 0,
                prints: """
                    excluded: isExcludedFromBackup unset: nothing excludes it now
                    plain: unchanged: it has no mark that excludes it
                    items to change: 1

                    """)
            try #expect(dump(root) == before)
            try #expect(tool("ls", root) == "tree")
        }
    }

    @Test(
        "a mass change is undone to what stood before, malformed marks included",
        arguments: [
            ["set", "-R", "excluded=true,purgeable=true", "."],
            ["unset", "-R", "all", "."],
            ["exclude", "--files0-from", "-"],
            ["purgeable", "--files0-from", "-"],
        ])
    func undo(arguments: [String]) throws {
        try require(.tool("getfattr"))
        try withTemporaryDirectory(containing: tree) { root in
            let before = try dump(root)
            var command = Command(.built("resval"), arguments: arguments)
            command.workingDirectory = root.appending("tree")
            command.environment = ["XDG_STATE_HOME": root.appending("state").string]
            command.input = Array("excluded\0plain\0./broken\0kept\0".utf8)
            let changed = try command.run()
            #expect(changed.exitCode == 0)
            let journal = try journal(in: root)
            #expect(changed.text.hasPrefix("items changed: "))
            #expect(
                changed.text.hasSuffix("; undo with: resval \(arguments[0]) --undo \(journal)\n"))
            try #expect(dump(root) != before)

            let dry = try run(arguments[0], "--undo", "-n", in: root)
            #expect(dry.exitCode == 0)
            try #expect(dump(root) != before)
            let undone = try run(arguments[0], "--undo", "--yes", in: root)
            #expect(undone.exitCode == 0)
            #expect(undone.errorText == "")
            #expect(
                undone.text.replacing(" undone\n", with: "\n")
                    == dry.text.replacing("marks to undo", with: "marks undone"))
            try #expect(dump(root) == before)
            // It is not used again.
            expect(
                try run(arguments[0], "--undo", in: root), exits: 2,
                complains: """
                    resval: \(root)/state/resval: there is no journal of \(arguments[0]) that is \
                    not undone yet (name one)

                    """)
        }
    }

    @Test("the newest journal is undone only with consent, a named one without")
    func consent() throws {
        try require(.tool("script"))
        try withTemporaryDirectory(containing: tree) { root in
            let plain = root.appending("tree/plain")
            try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
            let journal = try journal(in: root)
            try tool("touch", "-d", "2026-01-31T07:05:09.5Z", journal)
            let question =
                "resval: \(journal): is the newest journal of set, written until "
                + "2026-01-31T07:05:09Z: all that it records is undone"
            expect(
                try run("set", "--undo", in: root), exits: 2,
                complains: "\(question) (give --yes, or the journal)\n")
            try #expect(plain.marks().isPurgeable == .value(true))
            for (answer, code) in [("n", 1), ("y", 0)] {
                var command = Command(
                    try #require(FilePath.tool("script")), "-qec",
                    "'\(FilePath.built("resval"))' set --undo", "/dev/null")
                command.environment = ["XDG_STATE_HOME": root.appending("state").string]
                command.input = Array("\(answer)\n".utf8)
                let result = try command.run()
                #expect(result.exitCode == Int32(code))
                #expect(result.text.contains("\(question): continue? [y/N]"))
                #expect(
                    result.text.contains("resval: \(journal): nothing is undone") == (code == 1))
                try #expect(plain.marks().isEmpty == (code == 0))
            }
            try #expect(run("unset", "-R", "excluded", "excluded", in: root).exitCode == 0)
            let name = try tool("ls", root.appending("state/resval")).split(separator: "\n")
                .first { $0.hasPrefix("unset-") }
            let named = root.appending("state/resval").appending(String(try #require(name)))
            try #expect(run("unset", "--undo", named, in: root).exitCode == 0)
            try #expect(
                root.appending("tree/excluded").marks().isExcludedFromBackup == .value(true))
        }
    }

    @Test("a journal that is still being written is not undone")
    func active() throws {
        try require(.tool("flock"))
        try withTemporaryDirectory(containing: tree) { root in
            try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
            let journal = try journal(in: root)
            var command = Command(
                try #require(FilePath.tool("flock")), "\(journal)", "\(FilePath.built("resval"))",
                "set", "--undo", "\(journal)")
            command.environment = ["XDG_STATE_HOME": root.appending("state").string]
            expect(
                try command.run(), exits: 2,
                complains: """
                    resval: \(journal): is still being written, or undone (wait for that command \
                    to end)

                    """)
            try #expect(root.appending("tree/plain").marks().isPurgeable == .value(true))
        }
    }

    @Test("with few descriptors a list is changed all the same")
    func fewDescriptors() throws {
        let files = Tree {
            Directory("tree") {
                for number in 0..<300 { File(FileName(Array("f\(number)".utf8))) }
            }
        }
        try withTemporaryDirectory(containing: files) { root in
            let resval = FilePath.built("resval")
            var command = Command(
                "/bin/sh", "-c", "ulimit -n 40; exec '\(resval)' exclude --files0-from -")
            command.workingDirectory = root.appending("tree")
            command.environment = ["XDG_STATE_HOME": root.appending("state").string]
            command.input = (0..<300).flatMap { Array("f\($0)\0".utf8) }
            let result = try command.run()
            #expect(result.exitCode == 0)
            #expect(result.errorText == "")
            #expect(result.text.hasPrefix("items changed: 300; "))
            try #expect(
                root.appending("tree/f299").marks().isExcludedFromBackup == .value(true))
        }
    }

    @Test("undo leaves what was changed since, or is another item now, and says so")
    func undoOfOthers() throws {
        try withTemporaryDirectory(containing: tree) { root in
            let inside = root.appending("tree")
            try #expect(
                run("set", "-R", "excluded=true,purgeable=false", ".", in: root).exitCode == 0)
            let journal = try journal(in: root)
            // Warns that a directory above it excludes it.
            try #expect(run("set", "excluded=false", "plain", in: root).exitCode == 0)
            expect(try run("unset", "purgeable", "kept", in: root), exits: 0)
            try tool("cp", "--preserve=xattr", inside.appending("broken"), inside.appending("new"))
            try tool("mv", inside.appending("new"), inside.appending("broken"))
            try tool("rm", inside.appending("excluded"))
            let wrong = try run("unset", "--undo", journal, in: root)
            expect(
                wrong, exits: 2, prints: "marks undone: 0; left as they are: 0\n",
                complains: """
                    resval: \(journal): is a journal of set (undo it with: resval set --undo \
                    \(journal))

                    """)
            let undone = try run("set", "--undo", journal, in: root)
            #expect(undone.exitCode == 2)
            #expect(
                Set(undone.text.split(separator: "\n")) == [
                    "\(inside): isExcludedFromBackup=true undone",
                    "\(inside): isPurgeable=false undone",
                    "\(inside)/plain: isPurgeable=false undone",
                    "\(inside)/kept: isExcludedFromBackup=true undone",
                    "marks undone: 4; left as they are: 4",
                ])
            #expect(
                undone.errorText.split(separator: "\n").map(String.init).sorted() == [
                    "resval: \(inside)/broken: isExcludedFromBackup=true is left as it is: another "
                        + "item is at this path now",
                    "resval: \(inside)/broken: isPurgeable=false is left as it is: another item is "
                        + "at this path now",
                    "resval: \(inside)/excluded: no such file or directory",
                    "resval: \(inside)/plain: isExcludedFromBackup=true is left as it is: the mark "
                        + "was changed since",
                ])
            try #expect(
                inside.appending("plain").marks() == Marks(isExcludedFromBackup: .value(false)))
            try #expect(
                inside.appending("kept").marks()
                    == Marks(isExcludedFromBackup: .value(false), fileProtection: .value(.complete))
            )
            try #expect(inside.appending("broken").marks().isPurgeable == .value(false))
        }
    }

    @Test("a change through a link is undone on its target")
    func links() throws {
        let tree = Tree {
            Directory("tree") {
                File("target")
                SymbolicLink("link", to: "target")
            }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let list = "link\0"
            try #expect(
                run("exclude", "--files0-from", "-", in: root, input: list).exitCode == 0)
            let target = root.appending("tree/target")
            try #expect(target.marks().isExcludedFromBackup == .value(true))
            try #expect(run("exclude", "--undo", "--yes", in: root).exitCode == 0)
            try #expect(target.marks().isEmpty)
        }
    }

    @Test(
        "without a place for a journal nothing is changed; --no-journal and plain paths need none")
    func noJournal() throws {
        try withTemporaryDirectory(containing: tree) { root in
            try tool("touch", root.appending("state"))
            let refused = try run("set", "-R", "excluded=true", "plain", in: root)
            #expect(refused.exitCode == 2)
            #expect(refused.text == "items changed: 0\n")
            #expect(refused.errorText.split(separator: "\n").count == 1)
            try #expect(root.appending("tree/plain").marks().isEmpty)
            expect(
                try run("set", "-R", "--no-journal", "excluded=true", "plain", in: root), exits: 0)
            expect(try run("unset", "excluded", "plain", in: root), exits: 0)
            try #expect(root.appending("tree/plain").marks().isEmpty)
        }
    }

    @Test("the newest journals of a command are kept, those of others untouched")
    func keptJournals() throws {
        try withTemporaryDirectory(containing: tree) { root in
            let directory = root.appending("state/resval")
            try tool("mkdir", "-p", "-m", "700", directory)
            let old = (10..<35).map { "set-20\($0)-01-01T00:00:00.000000000Z-1.jsonl" }
            for (index, name) in old.enumerated() {
                let path = directory.appending(index % 2 == 0 ? name : name + ".undone")
                try tool("touch", "-d", index == 1 ? "1 hour ago" : "2 days ago", path)
            }
            let others = [
                "unset-2001-01-01T00:00:00.000000000Z-1.jsonl", "set-note", "backup-status.json",
            ]
            for name in others { try tool("touch", directory.appending(name)) }
            try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
            let names = try tool("ls", directory).split(separator: "\n").map(String.init)
            #expect(Set(others).isSubset(of: names))
            let journals = names.filter { !others.contains($0) }
            // One more than the bound, since the undone one of 2011 is not a day old.
            #expect(journals.count == 21)
            #expect(journals.contains { $0.hasPrefix("set-2011-") && $0.hasSuffix(".undone") })
            // Of the other undone ones those of 2033, 2031, … stay; no other one is removed.
            #expect(journals.filter { !$0.hasSuffix(".undone") }.count == 14)
            #expect(!journals.contains { $0.hasPrefix("set-2021-") })
            #expect(journals.contains { $0.hasPrefix("set-2023-") })
            // The new one has its place by its time, between those of 2026 and 2027.
            #expect(
                journals.contains { $0.hasPrefix("set-202") && !$0.contains("01-01T00:00:00.0") })
            #expect(journals.last?.hasPrefix("set-2034-") == true)
        }
    }

    @Test("--json tells what is changed and what is not, --quiet prints nothing")
    func json() throws {
        try withTemporaryDirectory(containing: tree) { root in
            expect(
                try run("set", "--json", "excluded=true", "excluded", "plain", "none", in: root),
                exits: 2,
                prints: #"""
                    {"version":1,"type":"item","path":"excluded","changed":false,"error":null}
                    {"version":1,"type":"item","path":"plain","changed":true,"error":null}
                    {"version":1,"type":"item","path":"none","changed":false,"error":"noSuchFile"}
                    {"version":1,"type":"summary","changedItems":1,"unchangedItems":1,"failedItems":1,"journal":null}

                    """#, complains: "resval: none: no such file or directory\n")
            let list = try run(
                "unset", "--json", "all", "--files0-from", "-", in: root, input: "plain\0plain\0")
            try #expect(
                list.text == #"""
                    {"version":1,"type":"item","path":"plain","changed":true,"error":null}
                    {"version":1,"type":"item","path":"plain","changed":false,"error":null}
                    {"version":1,"type":"summary","changedItems":1,"unchangedItems":1,"failedItems":0,"journal":"\#(
                    journal(in: root))"}

                    """#)
            expect(try run("set", "-qR", "purgeable=true", "plain", in: root), exits: 0)
            expect(
                try run("include", "--quiet", "--no-locations", "excluded", in: root), exits: 0)
            expect(try run("set", "--undo", "--quiet", "--yes", in: root), exits: 0)
            try #expect(root.appending("tree/plain").marks().isEmpty)
        }
    }

    @Test(
        "a wrong use of --undo is refused",
        arguments: [
            (["set", "--undo", "a", "b"], "--undo takes at most a journal"),
            (["set", "--undu"], "unknown option '--undu' (did you mean '--undo'?)\nUsage: "),
            (["exclude", "--undo", "--files0-from", "-"], "--undo takes at most a journal"),
            (["unset", "--undo", "-R"], "--undo takes no --recursive"),
            (["set"], "missing expected argument '<key=value>'"),
            (["set", "excluded=true"], "give at least one path, or --files0-from FILE"),
            (["exclude"], "give at least one path, or --files0-from FILE"),
        ])
    func usage(arguments: [String], complaint: String) throws {
        let result = try Command(.built("resval"), arguments: arguments).run()
        #expect(result.exitCode == 64)
        #expect(result.text == "")
        #expect(result.errorText.hasPrefix("resval: \(complaint)"))
    }

    @Test("after kill -9 at any moment undo brings back what there was", .timeLimit(.minutes(5)))
    func killed() throws {
        let files = Tree {
            Directory("tree") {
                for number in 0..<1000 {
                    File(FileName(Array("f\(number)".utf8))).excluded(number % 2 == 0)
                }
            }
        }
        for moment in killMoments(upTo: .milliseconds(60)) {
            try withTemporaryDirectory(containing: files) { root in
                let inside = root.appending("tree")
                let before = try dump(root)
                var command = Command(
                    .built("resval"), "set", "-R", "excluded=true,purgeable=true", inside)
                command.environment = ["XDG_STATE_HOME": root.appending("state").string]
                _ = try command.killed(after: moment).run()
                let undo = try run("set", "--undo", "--yes", in: root)
                // Without a journal nothing was written.
                if undo.exitCode != 0 { try #expect(dump(root) == before, "\(undo.errorText)") }
                try #expect(dump(root) == before)
            }
        }
    }
}
