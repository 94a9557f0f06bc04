import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Undoing mass changes of resval", .cleansUp)
struct UndoTests: MassChangeSuite {
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
        let root = try temporaryDirectory(containing: tree)
        let before = try dump(root)
        let changed = try resval(
            arguments: arguments, in: root.appending("tree"),
            input: Array("excluded\0plain\0./broken\0kept\0".utf8),
            environment: ["XDG_STATE_HOME": root.appending("state").string])
        #expect(changed.exitCode == 0)
        let journal = try journal(in: root)
        #expect(changed.text.hasPrefix("items changed: "))
        #expect(changed.text.hasSuffix("; undo with: resval undo \(journal)\n"))
        try #expect(dump(root) != before)

        let dry = try run("undo", "-n", in: root)
        #expect(dry.exitCode == 0)
        try #expect(dump(root) != before)
        let undone = try run("undo", journal, in: root)
        #expect(undone.exitCode == 0)
        #expect(undone.errorText == "")
        #expect(
            undone.text.replacing(" undone\n", with: "\n")
                == dry.text.replacing("marks to undo", with: "marks undone"))
        try #expect(dump(root) == before)
        // It is not used again.
        expect(
            try run("undo", in: root), exits: 2,
            complains: """
                resval: \(root)/state/resval: there is no journal left to undo (name one)

                """)
    }

    @Test("the newest journal is undone only with consent, a named one without")
    func consent() throws {
        try require(.tool("script"))
        let root = try temporaryDirectory(containing: tree)
        let plain = root.appending("tree/plain")
        try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
        let journal = try journal(in: root)
        try tool("touch", "-d", "2026-01-31T07:05:09.5Z", journal)
        let question =
            "resval: \(journal): is the newest journal, of set, written until "
            + "2026-01-31T07:05:09Z: all changes in it will be undone"
        expect(try run("undo", in: root), exits: 2, complains: "\(question) (name the journal)\n")
        try #expect(plain.marks().isPurgeable == true)
        for (answer, code) in [("n", 1), ("y", 0)] {
            let result = try Command(
                .built("resval"), "undo",
                environment: ["XDG_STATE_HOME": root.appending("state").string],
                input: Array("\(answer)\n".utf8)
            ).onTerminal("dumb").run()
            #expect(result.exitCode == Int32(code))
            let text = result.text.replacing("\r\n    ", with: " ")
            #expect(text.contains("\(question): continue? [y/N]"), "\(result)")
            #expect(text.contains("resval: \(journal): nothing was undone") == (code == 1))
            try #expect(plain.marks().isEmpty == (code == 0))
        }
        try #expect(run("unset", "-R", "excluded", "excluded", in: root).exitCode == 0)
        let name = try tool("ls", root.appending("state/resval")).split(separator: "\n")
            .first { $0.hasSuffix(".jsonl") }
        let named = root.appending("state/resval").appending(String(try #require(name)))
        try #expect(run("undo", named, in: root).exitCode == 0)
        #expect(!named.exists)
        try #expect(run("undo", in: root).exitCode == 2)
        try #expect(root.appending("tree/excluded").marks().isExcludedFromBackup == true)
    }

    @Test("a journal in a pipe is refused before anything is undone")
    func pipe() throws {
        let root = try temporaryDirectory(containing: tree)
        try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
        let text = try tool("cat", journal(in: root)) + "\n"
        expect(
            try run("undo", "/dev/stdin", in: root, input: text), exits: 2,
            complains: """
                resval: /dev/stdin: is not a regular file (write the journal to a file, and \
                name that)

                """)
        let plain = root.appending("tree/plain")
        try #expect(plain.value(for: .isPurgeable) == true)
        try Tree { File("copy", text) }.create(in: root)
        try #expect(run("undo", "../copy", in: root).exitCode == 0)
        try #expect(plain.value(for: .isPurgeable) == nil)
    }

    @Test("a journal that another user can write is refused, and a copy of it is undone")
    func foreign() throws {
        let root = try temporaryDirectory(containing: tree)
        try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
        let journal = try journal(in: root)
        try tool("chmod", "666", journal)
        expect(
            try run("undo", journal, in: root), exits: 2,
            complains: """
                resval: \(journal): another user owns it or can write to it, and it changes marks \
                anywhere (copy it, look through the copy, chmod go-w it, and undo that)

                """)
        let plain = root.appending("tree/plain")
        try #expect(plain.value(for: .isPurgeable) == true)
        try tool("install", "-m", "600", journal, root.appending("copy"))
        try #expect(run("undo", "../copy", in: root).exitCode == 0)
        try #expect(plain.value(for: .isPurgeable) == nil)
    }

    @Test("the largest value that the kernel stores is brought back")
    func largest() throws {
        let root = try filesystem(.xfs) { tree }.root
        let plain = root.appending("tree/plain")
        let name = StoredKey.isPurgeable.attribute
        let value = [UInt8](repeating: 0xFF, count: 65536)
        try plain.setExtendedAttribute(named: name, to: value)
        try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
        try #expect(plain.value(for: .isPurgeable) == true)
        try #expect(run("undo", journal(in: root), in: root).exitCode == 0)
        try #expect(plain.extendedAttribute(named: name) == value)
    }

    @Test("a journal that is still being written is not undone")
    func active() throws {
        try require(.tool("flock"))
        let root = try temporaryDirectory(containing: tree)
        try #expect(run("set", "-R", "purgeable=true", "plain", in: root).exitCode == 0)
        let journal = try journal(in: root)
        let command = Command(
            try #require(FilePath.tool("flock")), "\(journal)", "\(FilePath.built("resval"))",
            "undo", "\(journal)", environment: ["XDG_STATE_HOME": root.appending("state").string])
        expect(
            try command.run(), exits: 2,
            complains: """
                resval: \(journal): is in use by another command (wait for it to end)

                """)
        try #expect(root.appending("tree/plain").marks().isPurgeable == true)
    }

    @Test("the latest change is undone first, and a journal elsewhere keeps its name")
    func backwards() throws {
        let root = try temporaryDirectory(containing: tree)
        for value in ["true", "false"] {
            let set = try run("set", "-R", "excluded=\(value)", "plain", in: root)
            try #require(set.exitCode == 0)
        }
        let both = root.appending("both")
        let join = #"cd "$0"; set -- *; { cat "$1"; tail -n +2 "$2"; } > "$OLDPWD/both""#
        _ = try Command(
            "/bin/sh", "-c", join, root.appending("state/resval"), in: root
        ).runSuccessfully()
        let plain = root.appending("tree/plain")
        expect(
            try run("undo", both, in: root), exits: 0,
            prints: """
                \(plain): isExcludedFromBackup=false undone
                \(plain): isExcludedFromBackup=true undone
                marks undone: 2; not undone: 0

                """)
        try #expect(plain.marks().isEmpty)
        #expect(both.exists)
    }

    @Test("undo leaves what was changed since, or is another item now, and says so")
    func undoOfOthers() throws {
        let root = try temporaryDirectory(containing: tree)
        let inside = root.appending("tree")
        try #expect(run("set", "-R", "excluded=true,purgeable=false", ".", in: root).exitCode == 0)
        let journal = try journal(in: root)
        // Warns that a directory above it excludes it.
        try #expect(run("set", "excluded=false", "plain", in: root).exitCode == 0)
        expect(try run("unset", "purgeable", "kept", in: root), exits: 0)
        try tool("cp", "--preserve=xattr", inside.appending("broken"), inside.appending("new"))
        try tool("mv", inside.appending("new"), inside.appending("broken"))
        try tool("rm", inside.appending("excluded"))
        let undone = try run("undo", journal, in: root)
        #expect(undone.exitCode == 2)
        #expect(
            Set(undone.text.split(separator: "\n")) == [
                "\(inside): isExcludedFromBackup=true undone",
                "\(inside): isPurgeable=false undone",
                "\(inside)/plain: isPurgeable=false undone",
                "\(inside)/kept: isExcludedFromBackup=true undone",
                "marks undone: 4; not undone: 4",
            ])
        #expect(
            undone.errorText.split(separator: "\n").map(String.init).sorted() == [
                "resval: \(inside)/broken: isExcludedFromBackup=true is not undone: another "
                    + "item is now at this path",
                "resval: \(inside)/broken: isPurgeable=false is not undone: another item is "
                    + "now at this path",
                "resval: \(inside)/excluded: no such file or directory",
                "resval: \(inside)/plain: isExcludedFromBackup=true is not undone: the mark "
                    + "has changed since",
            ])
        try #expect(inside.appending("plain").marks() == Marks(isExcludedFromBackup: false))
        try #expect(
            inside.appending("kept").marks()
                == Marks(isExcludedFromBackup: false, fileProtection: .complete)
        )
        try #expect(inside.appending("broken").marks().isPurgeable == false)
    }

    @Test("a change through a link is undone on its target")
    func links() throws {
        let root = try temporaryDirectory {
            File("tree/target")
            SymbolicLink("tree/link", to: "target")
        }
        let list = "link\0"
        try #expect(run("exclude", "--files0-from", "-", in: root, input: list).exitCode == 0)
        let target = root.appending("tree/target")
        try #expect(target.marks().isExcludedFromBackup == true)
        try #expect(run("undo", journal(in: root), in: root).exitCode == 0)
        try #expect(target.marks().isEmpty)
    }

    @Test("after kill -9 at any moment undo brings back what there was", .timeLimit(.minutes(5)))
    func killed() throws {
        let files = Tree {
            for number in 0..<1000 { File("tree/f\(number)").excluded(number % 2 == 0) }
        }
        for moment in killMoments(upTo: .milliseconds(60)) {
            try cleaningUp {
                let root = try temporaryDirectory(containing: files)
                let inside = root.appending("tree")
                let before = try dump(root)
                let command = Command(
                    .built("resval"), "set", "-R", "excluded=true,purgeable=true", inside,
                    environment: ["XDG_STATE_HOME": root.appending("state").string])
                _ = try command.killed(after: moment).run()
                // Without a journal nothing was written.
                let names = (try? tool("ls", root.appending("state/resval"))) ?? ""
                if !names.isEmpty {
                    try #expect(run("undo", journal(in: root), in: root).exitCode == 0)
                }
                try #expect(dump(root) == before)
            }
        }
    }
}
