import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The command plan", .cleansUp)
struct PlanCommandTests {
    private static let tree = Tree {
        File("kept", "12345")
        File("marked", "text").excluded()
        Directory("directory") { File("inside", "text") }.excluded()
        File("twin", "text").excluded()
        HardLink("second twin", to: "twin")
        File("robots").attribute("user.xdg.robots.backup", "false")
        Socket("socket")
    }

    private func plan(_ arguments: String...) throws -> [String] {
        let root = try temporaryDirectory(containing: Self.tree)
        let command = Command(.built("resval-backup"), arguments: ["plan"] + arguments + [root])
        let result = try command.run(exits: 0)
        return result.text.replacing("\(root)", with: "ROOT").split(separator: "\n")
            .map { String($0) }.sorted()
    }

    @Test("each item has its reason, and the totals count them")
    func text() throws {
        let lines = try plan()
        #expect(
            lines == [
                "exclude   ROOT/directory: its mark excludes it",
                "exclude   ROOT/marked: its mark excludes it",
                "exclude   ROOT/robots: it is excluded by the attribute user.xdg.robots.backup",
                "exclude   ROOT/socket: it is a socket",
                "store     ROOT",
                "store     ROOT/kept",
                "store     ROOT/second twin: "
                    + "its mark does not count, because the file has 2 hard links",
                "store     ROOT/twin: its mark does not count, because the file has 2 hard links",
                "total: 5 items stored (3 files with 13 B, 2 directories, 0 others), 4 excluded",
            ])
    }

    @Test("only what is left out can be asked for, as JSON too, which names the marker")
    func excludedOnly() throws {
        let lines = try plan("--excluded-only", "--json")
        #expect(lines.count == 5)
        #expect(
            lines.first
                == #"{"version":1,"type":"item","path":"ROOT/directory","kind":"directory","isStored":false,"#
                + #""reason":"marked","marker":"native","sentence":"its mark excludes it"}"#)
        for fields in [
            #""reason":"marker","marker":"xdg","#, #""reason":"socket","marker":null,"#,
            #""excludedItems":4"#,
        ] {
            #expect(lines.contains { $0.contains(fields) }, "\(lines)")
        }
    }

    @Test("a FUSE mount that does not answer is left out, and stops nothing")
    func silentMount() throws {
        let root = try temporaryDirectory {
            Directory("source") { Directory("inner") }
            Directory("home") { File("file", "text") }
        }
        let home = root.appending("home")
        let mount = home.appending("mount")
        try makeSilentMounts(at: [mount], showing: root.appending("source"))
        try Command(.built("resval-backup"), "plan", home).killed(
            after: .seconds(30)
        ).run(exits: 0, prints: "exclude   \(mount): ", "store     \(home)/file")
    }

    @Test("an overlay below a SOURCE with its directories is stored, and named")
    func overlay() throws {
        let overlay = try filesystem(.overlayfs)
        try Tree { File("own", "text") }.create(in: overlay.root)
        let source = overlay.root.removingLastComponent()
        func plan(_ arguments: any CommandArgument...) throws -> CommandResult {
            try Command(.built("resval-backup"), arguments: ["plan"] + arguments).run()
        }
        let named = "\(overlay.root): warning: shows what is elsewhere below the SOURCEs, too"
        let both = try plan(source)
        #expect(both.exitCode == 0)
        for directory in ["merged", "upper"] {
            #expect(both.text.contains("store     \(source)/\(directory)/own\n"), "\(both)")
        }
        #expect(both.errorText.contains(named), "\(both)")
        try #expect(plan("--format", "nul", source).errorText.contains(named))
        for alone in [try plan("--exclude", "merged/", source), try plan(overlay.root)] {
            #expect(alone.exitCode == 0)
            #expect(alone.errorText == "")
        }
    }
}

@Suite("Backups without what tools re-create", .cleansUp)
struct RecreationTests {
    private static let modules = Directory("node_modules") { File("large", "12345") }
    private let tree = Tree {
        Directory("app") {
            File("package.json", "{}"); modules
        }
        Directory("notes") { Directory("node_modules") { File("poem", "text") } }
    }

    private let markers = ["--markers", "native,apple,xdg,rules"]

    @Test("a directory that was deleted and made again is left out, with the rule as reason")
    func rebuilt() throws {
        let backup = try backup(of: tree)
        let (app, source) = (backup("app"), backup.source)
        for _ in 1...2 {
            let plan = try backup.runSuccessfully("plan", markers[0], markers[1], source)
            let lines = plan.split(separator: "\n").filter { $0.hasPrefix("exclude ") }
            #expect(
                lines == [
                    "exclude   \(app)/node_modules: re-creatable: node_modules beside package.json"
                ])
            try removeTree(at: app.appending("node_modules"))
            try Tree { Self.modules }.create(in: app)
        }
        let json = try backup.runSuccessfully(
            "plan", "--json", "--excluded-only", markers[0], markers[1], source)
        #expect(
            json.contains(
                #""isStored":false,"reason":"marker","marker":"rules","#
                    + #""sentence":"re-creatable: node_modules beside package.json""#))
        try #expect(!backup.runSuccessfully("plan", source).contains("exclude "))
        try backup.runSuccessfully("create", markers[0], markers[1], source)
        try backup.run(
            "show", "latest", "--excluded", exits: 0,
            prints: "re-creatable: node_modules beside package.json")
    }

    @Test("a mark that says to back it up overrules the rule, and a broken rule stops the plan")
    func overruled() throws {
        let backup = try backup(of: tree)
        let modules = backup("app/node_modules")
        try Command(.built("resval"), "set", "excluded=false", modules).runSuccessfully()
        let plan = try backup.runSuccessfully("plan", markers[0], markers[1], backup.source)
        #expect(!plan.contains("exclude "), "\(plan)")
        try Tree {
            File(".config/resval/rules.tsv", "out\n")
        }.create(in: backup.base.appending("home"))
        try backup.run(
            "plan", markers[0], markers[1], backup.source, exits: 1,
            says: "rules.tsv: line 1: has not four fields")
    }

    @Test("a directory of which git cannot be asked is stored, and named with the reason")
    func unknown() throws {
        let backup = try backup(of: tree)
        try Tree { Directory(".hg") }.create(in: backup("app"))
        let plan = try backup.run("plan", markers[0], markers[1], backup.source, exits: 0)
        #expect(!plan.text.contains("exclude "))
        #expect(
            plan.errorText.contains(
                "app/node_modules: warning: a rule for what tools re-create does not count: "
                    + "node_modules beside package.json, but it may be tracked: .hg is above it"
            ),
            "\(plan)")
    }

    @Test("with gitignore, what git ignores is left out and what it tracks is stored")
    func ignored() throws {
        try require(.tool("git"))
        let backup = try backup {
            File("app/.gitignore", "*.log\nout/\n")
            File("app/a.log", "text")
            File("app/kept.log", "text")
            File("app/out/object", "text")
        }
        let app = backup("app")
        try tool("git", "-C", app, "init", "-q")
        try tool("git", "-C", app, "add", "-f", "kept.log")
        for source in [backup.source, app] {
            let plan = try backup.runSuccessfully(
                "plan", "--excluded-only", "--markers", "native,gitignore", source)
            #expect(
                Set(plan.split(separator: "\n").dropLast()) == [
                    "exclude   \(app)/a.log: it is excluded by an ignore rule of git",
                    "exclude   \(app)/out: it is excluded by an ignore rule of git",
                ], "\(source)")
        }
    }
}
