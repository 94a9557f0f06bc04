import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Patterns and growth in the configuration", .cleansUp)
struct PatternSettingsTests {
    private static let tree = Tree {
        File("notes", "text")
        File("disk.iso", String(repeating: "x", count: 5000))
        Directory("images") { File("other.iso", String(repeating: "y", count: 5000)) }
    }

    @Test("what a pattern newly excludes is named once with items and size, held, and no shortfall")
    func newlyExcluded() throws {
        let fixture = try configuredBackup { Self.tree }
        let settings = fixture.usual + "verify = \"never\"\n"
        try fixture.run("run", exits: 0)
        try fixture.configure(settings + "exclude = [\"*.iso\", \"*.tmp\"]\n")
        let first = try fixture.run(
            "run", exits: 0,
            says:
                "the pattern '*.iso', line 5 of the configuration, newly excludes 2 items of the "
                + "snapshot before with 9.8 KiB",
            "the pattern '*.tmp', line 5 of the configuration, excludes nothing",
            "which has it, is kept for 30 days")
        #expect(!first.errorText.contains("disk.iso"), "\(first)")
        let second = try fixture.run("run", exits: 0)
        #expect(!second.errorText.contains("newly excludes"), "\(second)")
        try fixture.run("status", exits: 0, prints: "disk.iso: not in the newest snapshot")
        try fixture.run(
            "show", "latest", "--excluded", exits: 0,
            prints: "disk.iso: it is excluded by the pattern '*.iso'")
        try fixture.configure(settings + "exclude = [\"*.iso\", \"*\"]\n")
        try fixture.run("run", exits: 1, says: "excluded by the pattern '*', line 5")
        try fixture.configure(settings + "exclude = [\"[[:digit:]]\"]\n")
        try fixture.run("run", exits: 1, says: "line 5: exclude takes patterns")
    }

    @Test("plan and create take the same patterns")
    func options() throws {
        let fixture = try configuredBackup { Self.tree }
        let source = fixture.source
        try fixture.run(
            "plan", "--excluded-only", "--exclude", "images/", source, exits: 0,
            prints: "exclude   \(source)/images: it is excluded by the pattern 'images/'")
        try fixture.run("create", "--exclude", "images/", source, exits: 0)
        let items = try fixture.runSuccessfully("show", "latest", "--items")
        #expect(items.contains("disk.iso") && !items.contains("other.iso"), "\(items)")
        try fixture.run("create", "--exclude", "!", source, exits: 64)
        // A pattern is bytes, as names are.
        try Tree {
            File(FileName([0xFF, 0x31]), "1"); File(FileName([0xFF, 0x32]), "2")
        }
        .create(in: source)
        let named = try fixture.runSuccessfully(
            "plan", "--exclude", FilePath(bytes: [0xFF, 0x31]), source)
        #expect(
            named.contains(#"exclude   $'\#(source)/\3771'"#)
                && named.contains(#"store     $'\#(source)/\3772'"#), "\(named)")
        try fixture.run(
            "create", "--tag", "one\ntwo", source, exits: 64, says: "a tag must be text of one line"
        )
    }

    @Test("resval names settings that it does not ask, where they may change what it answers")
    func unasked() throws {
        let fixture = try configuredBackup { Self.tree }
        let explain = ["explain", "--no-locations"]
        for (key, value, words, name, isNamed) in [
            ("exclude", "[]", explain, "", false), ("exclude", "[\"*.iso\"]", explain, "", true),
            ("exclude", "[\"*.iso\"]", explain, "none", false),
            ("exclude-larger-than", "\"1K\"", explain, "", true),
            ("exclude-larger-than", "\"1K\"", ["get", "isDirectory"], "", false),
        ] {
            try fixture.configure(fixture.usual + "\(key) = \(value)\n")
            let result = try Command(
                .built("resval"), arguments: words + ["\(fixture(name))"],
                environment: fixture.environment
            ).run()
            #expect(result.errorText.contains("'\(key)' may exclude more") == isNamed, "\(result)")
        }
    }

    @Test("growth by more than the configured share is told once, with what is free")
    func growth() throws {
        let fixture = try configuredBackup { Self.tree }
        try fixture.configure(fixture.usual + "verify = \"never\"\nwarn-growth = \"50%\"\n")
        let file = fixture("new")
        for (size, isTold) in [(0, false), (4000, false), (40000, true), (40000, false)] {
            try tool("truncate", "-s", "\(size)", file)
            let result = try fixture.run("run", exits: 0)
            #expect(
                result.errorText.contains("% more than in the snapshot before; ") == isTold,
                "\(result)")
            #expect(result.errorText.contains("are free in the repository's filesystem") == isTold)
        }
        try fixture.configure(fixture.usual + "warn-growth = \"5\"\n")
        try fixture.run("run", exits: 1, says: "warn-growth takes a share")
    }
}
