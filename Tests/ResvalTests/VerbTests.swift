import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval exclude, include, purgeable and status")
struct VerbTests {
    private let excluded = StoredKey.isExcludedFromBackup.attribute
    private let foreignNo = "user.xdg.robots.backup" as ExtendedAttributeName

    @Test("exclude and purgeable store what set stores, with the same warnings")
    func storing() throws {
        let tree = Tree {
            File("file")
            File("several")
            HardLink("twin", to: "several")
        }
        try withTemporaryDirectory(containing: tree) { root in
            expect(try resval("exclude", "file", in: root), exits: 0)
            try #expect(
                root.appending("file").marks() == Marks(isExcludedFromBackup: true))
            expect(
                try resval(
                    "purgeable", "--no-journal", "--files0-from", "-", in: root,
                    input: Array("file\0".utf8)),
                exits: 0)
            try #expect(root.appending("file").marks().isPurgeable == true)
            expect(
                try resval("exclude", "none", "several", in: root), exits: 2,
                complains: """
                    resval: none: no such file or directory
                    resval: several: warning: the file has 2 hard links: they share their marks \
                    (to exclude such a file from backups, mark its directory)

                    """)
            try #expect(root.appending("twin").marks().isExcludedFromBackup == true)
        }
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
        try withTemporaryDirectory(containing: tree) { root in
            expect(
                try resval(
                    "include", "--no-locations", "marked", "broken", "kept", "plain", "foreign",
                    "both", "none", in: root),
                exits: 2,
                prints: """
                    marked: isExcludedFromBackup unset: nothing excludes it now
                    broken: isExcludedFromBackup unset: nothing excludes it now
                    kept: unchanged: its mark already includes it
                    plain: unchanged: it has no mark that excludes it
                    foreign: isExcludedFromBackup=false: without it, it is excluded by \
                    the attribute user.xdg.robots.backup
                    both: isExcludedFromBackup=false: without it, it is excluded by \
                    the attribute user.xdg.robots.backup

                    """, complains: "resval: none: no such file or directory\n")
            try #expect(root.appending("marked").marks() == Marks(isPurgeable: true))
            for name in ["broken", "plain"] {
                try #expect(root.appending(name).marks().isEmpty)
            }
            for name in ["kept", "foreign", "both"] {
                try #expect(root.appending(name).marks().isExcludedFromBackup == false)
                expect(
                    try resval("test", "--effective", "--no-locations", "excluded", name, in: root),
                    exits: 1)
            }
            // Other marks do not count, so the item is included without one.
            expect(
                try resval(
                    "include", "--no-locations", "--markers", "native", "plain", "foreign",
                    in: root),
                exits: 0,
                prints: """
                    plain: unchanged: it has no mark that excludes it
                    foreign: unchanged: its mark already includes it

                    """)
        }
    }

    @Test("include of a location stores false, of an item below it fails and says what to include")
    func locations() throws {
        let tree = Tree {
            Directory("home") { Directory(".cache") { File("f") } }
            Directory("it's out") {
                File("f").excluded()
                File("foreign").attribute(foreignNo, "false")
            }.excluded()
        }
        try withTemporaryDirectory(containing: tree, isShared: true) { root in
            let home = root.appending("home")
            let environment: [String: String?] = [
                "HOME": home.string, "XDG_CACHE_HOME": nil, "TMPDIR": nil,
            ]
            /// Compares what include did, but for warnings about the place of this home.
            func expectInclude(
                _ path: String, exits code: Int32, prints output: String,
                complains errors: String = ""
            ) throws {
                let result = try resval(
                    "include", "--source", root, path, in: root, environment: environment)
                #expect(result.exitCode == code)
                #expect(result.text == output)
                let lines = result.errorText.split(
                    separator: "\n", omittingEmptySubsequences: false)
                #expect(
                    lines.filter { !$0.contains(": warning: ") }.joined(separator: "\n") == errors)
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
                "it's out/f", exits: 2,
                prints: "it's out/f: isExcludedFromBackup unset: its own mark excluded it\n",
                complains: """
                    resval: it's out/f: is still excluded: a directory above it is excluded: its \
                    mark excludes it (resval include '\(root)/it'\\''s out')

                    """)
            try expectInclude(
                "it's out/foreign", exits: 2,
                prints: """
                    it's out/foreign: isExcludedFromBackup=false: without it, it is \
                    excluded by the attribute user.xdg.robots.backup

                    """,
                complains: """
                    resval: it's out/foreign: is still excluded: a directory above it is \
                    excluded: its mark excludes it (resval include '\(root)/it'\\''s out')

                    """)
        }
    }

    @Test("status shows what applies and why, the marks, and whether the content is here")
    func status() throws {
        let record =
            "user.resval.evicted.0123456789abcdef.fedcba9876543210.7.644.1234567890-500000000"
        let tree = Tree {
            Directory("build") { File("object") }.excluded().purgeable()
            File("letter").protection(.complete).purgeable(false)
            File("away").attribute(ExtendedAttributeName(record), "")
            File("new\nline").excluded().attribute(
                StoredKey.isPurgeable.attribute, "perhaps")
        }
        try withTemporaryDirectory(containing: tree) { root in
            try tool("truncate", "-s", "1M", root.appending("away"))
            try tool("touch", "-d", "@1234567890.5", root.appending("away"))
            try tool("chmod", "0", root.appending("away"))
            let result = try resval(
                "status", "--no-locations", "build/object", "letter", "away", "new\nline", "none",
                in: root)
            // The verdict is that on the volume of the test.
            let verdict = try #require(
                result.text.split(separator: "\n").first { $0.hasPrefix("  enforced:   ") })
            expect(
                result, exits: 2,
                prints: """
                    build/object:
                      backup:     excluded: a directory above it is excluded: its mark excludes \
                    it (\(root)/build)
                      purging:    purgeable: a directory above decides: its mark says that it may \
                    be deleted (\(root)/build)
                      protection: no class: no protection class is stored
                      marks:      none
                      evicted:    no
                    letter:
                      backup:     included: nothing excludes it
                      purging:    pinned: it is pinned: isPurgeable=false
                      protection: complete: its class is complete
                    \(verdict)
                      marks:      isPurgeable=false, fileProtection=complete
                      evicted:    no
                    away:
                      backup:     included: nothing excludes it
                      purging:    kept: no mark says that it may be deleted
                      protection: no class: no protection class is stored
                      marks:      none
                      evicted:    yes: its content is in snapshot fedcba98 of repository 01234567 \
                    (resval-backup download \(root)/away)
                    $'new\\nline':
                      backup:     excluded: its mark excludes it
                      purging:    pinned: its mark is malformed and acts as false: \
                    \(perhaps)
                      protection: no class: no protection class is stored
                      marks:      isExcludedFromBackup=true
                      evicted:    no
                      note:       isPurgeable fails safe: \(malformed)

                    """, complains: "resval: none: no such file or directory\n")
        }
    }

    @Test(
        "status and explain tell whether anything enforces a protection class",
        arguments: [
            (
                FilesystemKind.ext4,
                "advisory: nothing enforces the class, and the volume is not encrypted"
            ),
            (.tmpfs, "unknown: whether and when the content is encrypted is not known"),
        ])
    func verdict(kind: FilesystemKind, verdict: String) throws {
        try withFilesystem(kind) { filesystem in
            try Tree { File("letter").protection(.complete) }.create(in: filesystem.root)
            let status = try resval("status", "letter", in: filesystem.root)
            #expect(status.text.contains("\n  enforced:   \(verdict)\n"))
            let explained = try resval("explain", "letter", in: filesystem.root)
            #expect(explained.text.contains("\n  enforced: \(verdict)\n"))
            let name = verdict.prefix { $0 != ":" }
            let json = try resval("explain", "--json", "letter", in: filesystem.root)
            #expect(json.text.contains("\"verdict\":\"\(name)\""))
        }
    }

    @Test(
        "--color decides, else NO_COLOR and the terminal",
        arguments: ["status f", "explain f", "list f", "find --marked d"])
    func colors(words: String) throws {
        try require(.tool("script"))
        let tree = Tree {
            File("f").excluded()
            Directory("d").excluded()
        }
        try withTemporaryDirectory(containing: tree) { root in
            func isColored(_ arguments: String..., isTerminal: Bool, noColor: String?) throws
                -> Bool
            {
                let words = ["'\(FilePath.built("resval"))'"] + arguments
                let line = words.joined(separator: " ")
                let shell = try #require(FilePath.tool(isTerminal ? "script" : "sh"))
                var command = Command(
                    shell, arguments: isTerminal ? ["-qec", line, "/dev/null"] : ["-c", line])
                command.workingDirectory = root
                command.environment = ["NO_COLOR": noColor, "TERM": "xterm"]
                let result = try command.run()
                #expect(result.exitCode == 0)
                let isColored = result.text.contains("\u{1B}[3")
                #expect(!result.text.contains("\\033"))
                return isColored
            }
            try #expect(isColored(words, isTerminal: true, noColor: nil))
            try #expect(!isColored(words, isTerminal: true, noColor: "1"))
            try #expect(!isColored(words, isTerminal: false, noColor: nil))
            try #expect(!isColored(words, "--color never", isTerminal: true, noColor: nil))
            try #expect(isColored(words, "--color always", isTerminal: false, noColor: "1"))
        }
    }

    private let perhaps =
        "user.resval.isPurgeable has the value \"perhaps\", which is not one of: true, false"
    private var malformed: String {
        "\(perhaps) (store a valid value with set, or remove this one with unset)"
    }
}
