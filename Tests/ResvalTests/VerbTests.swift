import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval exclude, include, purgeable and explain", .cleansUp)
struct VerbTests {
    private let excluded = StoredKey.isExcludedFromBackup.attribute
    private let foreignNo = "user.xdg.robots.backup" as ExtendedAttributeName

    @Test("exclude and purgeable store what set stores, with the same warnings")
    func storing() throws {
        let root = try temporaryDirectory {
            File("file")
            File("several")
            HardLink("twin", to: "several")
        }
        try expectTranscript(
            """
            $ resval exclude file
            $ resval purgeable file
            $ resval exclude none several
            ! resval: none: no such file or directory
            ! resval: warning: 1 file with several hard links: they share their marks \
            (to exclude such a file from backups, mark its directory)
            [2]
            """, in: root)
        try #expect(
            root.appending("file").marks() == Marks(isExcludedFromBackup: true, isPurgeable: true))
        try #expect(root.appending("twin").marks().isExcludedFromBackup == true)
    }

    @Test("include removes the mark, or stores false where something else would exclude")
    func including() throws {
        let tree = Tree {
            File("marked").excluded().purgeable()
            File("broken").attribute(excluded, "perhaps")
            File("kept").excluded(false)
            File("plain")
            File("foreign").attribute(foreignNo, "false")
            File("both").excluded().attribute(foreignNo, "false")
        }
        let root = try temporaryDirectory(containing: tree)
        // In its home the tree is in no directory for temporary files.
        let environment: [String: String?] = ["HOME": root.string]
        try expectTranscript(
            """
            $ resval include marked broken kept plain foreign both none
            marked: isExcludedFromBackup unset: nothing excludes it now
            broken: isExcludedFromBackup unset: nothing excludes it now
            kept: unchanged: its mark already includes it
            plain: unchanged: it has no mark that excludes it
            foreign: isExcludedFromBackup=false: without it, it is excluded by \
            the attribute user.xdg.robots.backup
            both: isExcludedFromBackup=false: without it, it is excluded by \
            the attribute user.xdg.robots.backup
            ! resval: none: no such file or directory
            [2]
            """, in: root, environment: environment)
        try #expect(root.appending("marked").marks() == Marks(isPurgeable: true))
        for name in ["broken", "plain"] {
            try #expect(root.appending(name).marks().isEmpty)
        }
        for name in ["kept", "foreign", "both"] {
            try #expect(root.appending(name).marks().isExcludedFromBackup == false)
            expect(
                try resval(
                    "test", "--effective", "excluded", name, in: root, environment: environment),
                exits: 1)
        }
        // Other marks do not count, so the item is included without one.
        try expectTranscript(
            """
            $ resval include --markers native plain foreign
            plain: unchanged: it has no mark that excludes it
            foreign: unchanged: its mark already includes it
            """, in: root, environment: environment)
    }

    @Test("include of a list knows what it did to the directories above")
    func includingList() throws {
        let root = try temporaryDirectory {
            Directory("d") { File("f").excluded() }.excluded(); File("list", "d\0d/f\0")
        }
        let result = try resval(
            "include", "--files0-from", "list", in: root,
            environment: ["XDG_STATE_HOME": root.appending("state").string])
        // The location of the test excludes both, and no mark does any more.
        #expect(result.text.contains("items changed: 2"), "\(result)")
        #expect(!result.errorText.contains("its mark excludes it"), "\(result)")
    }

    @Test("include of a location stores false, of an item below it fails and says what to include")
    func locations() throws {
        let root = try temporaryDirectory(isShared: true) {
            File("home/.cache/f")
            Directory("home/it's out") {
                File("f").excluded()
                File("foreign").attribute(foreignNo, "false")
            }.excluded()
        }
        let home = root.appending("home")
        let environment: [String: String?] = ["HOME": home.string]
        /// Compares what include did, but for warnings about the place of this home.
        func expectInclude(
            _ path: String, exits code: Int32, prints output: String,
            complains errors: String = ""
        ) throws {
            let result = try resval("include", path, in: root, environment: environment)
            #expect(result.exitCode == code)
            #expect(result.text == output)
            let lines = result.errorText.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.filter { !$0.contains(": warning: ") }.joined(separator: "\n") == errors)
        }
        try expectInclude(
            "home/.cache/f", exits: 2,
            prints: "home/.cache/f: unchanged: it has no mark that excludes it\n",
            complains: """
                resval: home/.cache/f: is still excluded: a directory above it is excluded: \
                it is a directory for caches (resval include \(home)/.cache)

                """)
        try expectInclude(
            "home/.cache", exits: 0,
            prints: """
                home/.cache: isExcludedFromBackup=false: without it, it is a directory \
                for caches

                """)
        try expectInclude(
            "home/.cache/f", exits: 0,
            prints: "home/.cache/f: unchanged: it has no mark that excludes it\n")
        try expectInclude(
            "home/it's out/f", exits: 2,
            prints: "home/it's out/f: isExcludedFromBackup unset: its own mark excluded it\n",
            complains: """
                resval: home/it's out/f: is still excluded: a directory above it is excluded: its \
                mark excludes it (resval include '\(home)/it'\\''s out')

                """)
        try expectInclude(
            "home/it's out/foreign", exits: 2,
            prints: """
                home/it's out/foreign: isExcludedFromBackup=false: without it, it is \
                excluded by the attribute user.xdg.robots.backup

                """,
            complains: """
                resval: home/it's out/foreign: is still excluded: a directory above it is \
                excluded: its mark excludes it (resval include '\(home)/it'\\''s out')

                """)
    }

    @Test("explain shows what applies and why, the marks, and whether the content is here")
    func explain() throws {
        let tree = Tree {
            Directory("build") { File("object") }.excluded().purgeable()
            File("letter").protection(.complete).purgeable(false)
            for name: FileName in ["away", "open", "new", "half", "lost"] { File(name) }
            File("new\nline").excluded().attribute(StoredKey.isPurgeable.attribute, "perhaps")
        }
        let record =
            "user.resval.evicted.0123456789abcdef.fedcba9876543210.7.644.1234567890-500000000"
        let root = try temporaryDirectory(containing: tree)
        for (name, mode) in [("away", "0"), ("open", "644"), ("half", "200"), ("lost", "0")] {
            let file = root.appending(name)
            try tool("truncate", "-s", "1M", file)
            try tool("touch", "-d", "@1234567890.5", file)
            try tool("chmod", mode, file)
        }
        try tool("sh", "-c", "echo text > \"$0\"", root.appending("new"))
        for name in ["away", "open", "half", "new"] {
            try root.appending(name).setExtendedAttribute(
                named: ExtendedAttributeName(record), to: [])
        }
        let result = try resval(
            "explain", "--no-locations", "build/object", "letter", "away", "new\nline", "none",
            in: root)
        // The verdict is that on the volume of the test.
        let verdict = try #require(
            result.text.split(separator: "\n").first { $0.hasPrefix("  enforced: ") })
        let content =
            "content is in snapshot fedcba98 of repository 01234567"
        func its(_ name: String) -> String {
            "its \(content) (resval-backup download \(root)/\(name))"
        }
        expect(
            result, exits: 2,
            prints: """
                build/object:
                  isExcludedFromBackup: true: a directory above it is excluded: its mark \
                excludes it (\(root)/build)
                  isPurgeable: true: a directory above decides: its mark says that it may \
                be deleted (\(root)/build)
                  fileProtection: no class: no protection class is stored
                letter:
                  isExcludedFromBackup: false: nothing excludes it
                  isPurgeable: false: it is pinned: isPurgeable=false
                  fileProtection: complete: its class is complete
                \(verdict)
                  marks: isPurgeable=false, fileProtection=complete
                away:
                  isExcludedFromBackup: false: nothing excludes it
                  isPurgeable: false: no mark says that it may be deleted
                  fileProtection: no class: no protection class is stored
                  evicted: yes: \(its("away"))
                $'new\\nline':
                  isExcludedFromBackup: true: its mark excludes it
                  isPurgeable: false: its mark is malformed and acts as false: \(perhaps)
                  fileProtection: no class: no protection class is stored
                  marks: isExcludedFromBackup=true
                  note: isPurgeable fails safe: \(malformed)

                """, complains: "resval: none: no such file or directory\n")
        for (name, words) in [
            ("open", "yes, but programs can read it, as zeros: \(its("open"))"),
            ("half", "interrupted: \(its("half"))"),
            ("new", "no, it has new content: the evicted \(content)"),
            ("lost", "unknown: it looks evicted, but has no record of its content"),
        ] {
            let explained = try resval("explain", name, in: root)
            #expect(explained.text.contains("\n  evicted: \(words)\n"), "\(explained)")
        }
    }

    @Test(
        "explain tells whether anything enforces a protection class",
        arguments: [
            (
                FilesystemKind.ext4,
                "advisory: nothing enforces the class, and the volume is not encrypted"
            ),
            (.tmpfs, "unknown: whether and when the content is encrypted is not known"),
        ])
    func verdict(kind: FilesystemKind, verdict: String) throws {
        let filesystem = try filesystem(kind) { File("letter").protection(.complete) }
        let explained = try resval("explain", "letter", in: filesystem.root)
        #expect(explained.text.contains("\n  enforced: \(verdict)\n"))
        let name = verdict.prefix { $0 != ":" }
        let json = try resval("explain", "--json", "letter", in: filesystem.root)
        #expect(json.text.contains("\"verdict\":\"\(name)\""))
    }

    @Test(
        "--color decides, else NO_COLOR and the terminal",
        arguments: [["explain", "f"], ["find", "d"]])
    func colors(words: [String]) throws {
        try require(.tool("script"))
        let root = try temporaryDirectory {
            File("f").excluded()
            Directory("d").excluded()
        }
        func isColored(_ options: String..., isTerminal: Bool, noColor: String?) throws -> Bool {
            let command = Command(
                .built("resval"), arguments: words + options, in: root,
                environment: ["NO_COLOR": noColor, "TERM": "xterm"])
            let result = try (isTerminal ? command.onTerminal("xterm") : command).run()
            #expect(result.exitCode == 0)
            #expect(!result.text.contains("\\033"))
            return result.text.contains("\u{1B}[3")
        }
        try #expect(isColored(isTerminal: true, noColor: nil))
        try #expect(!isColored(isTerminal: true, noColor: "1"))
        try #expect(!isColored(isTerminal: false, noColor: nil))
        try #expect(!isColored("--color", "never", isTerminal: true, noColor: nil))
        try #expect(isColored("--color", "always", isTerminal: false, noColor: "1"))
    }

    private let perhaps =
        "user.resval.isPurgeable has the value \"perhaps\", which is not one of: true, false"
    private var malformed: String {
        "\(perhaps) (store a valid value with set, or remove this one with unset)"
    }
}
