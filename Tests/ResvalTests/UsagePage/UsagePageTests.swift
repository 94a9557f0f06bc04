import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The page of resval usage --html", .cleansUp)
struct UsagePageTests {
    private static let tree = Tree {
        Directory("documents") { file(6) }
        Directory("mail") {
            file(3)
            Directory("archive") { file(2) }
        }
        Directory("build") {
            file(3)
            Directory("objects") { file(1) }
        }
        .excluded()
        Directory("thumbnails") { file(3) }.purgeable()
        Directory("keys") { file(2) }.protection(.complete)
        Directory(".cache") { Directory("app") { file(1) } }
    }

    private static func file(_ mebibytes: Int) -> File {
        File("file", [UInt8](repeating: 1, count: mebibytes << 20))
    }

    @Test("a report is drawn with all that happens to bytes", arguments: ["light", "dark"])
    func drawn(scheme: String) throws {
        try expect(
            scheme,
            """
            summary: ROOT: 21.0 MiB
            row: 1 | true | ROOT | 21.0 MiB | 52 % backed up, 19 % excluded: its mark, 14 % \
            backed up; purgeable: marked, 9 % backed up; protected: complete VERDICT, 4 % excluded: a \
            directory for caches; purgeable: caches
            row: 2 | - | documents | 6.0 MiB | backed up
            row: 2 | false | mail | 5.0 MiB | backed up
            row: 2 | false | build | 4.0 MiB | excluded: its mark
            row: 2 | - | thumbnails | 3.0 MiB | backed up; purgeable: marked
            row: 2 | - | keys | 2.0 MiB | backed up; protected: complete VERDICT
            row: 2 | false | .cache | 1.0 MiB | excluded: a directory for caches; purgeable: caches
            colours: ["kept", "excluded", "purgeable", "frame"]
            map: Map of ROOT, 21.0 MiB. The table has the same directories.
            legend: ["backed up", "excluded from backups", "purgeable", \
            "excluded and purgeable", "protection class"]
            wrong layouts: []
            contrasts too low: []
            problems: []
            """)
    }

    @Test("the map selects and zooms by mouse")
    func zoomed() throws {
        try expect(
            "zoomed",
            """
            selected: ROOT/documents
            zoomed: ["ROOT", "documents"]
            map: Map of ROOT/documents, 6.0 MiB. The table has the same directories.
            colours: ["kept"]
            back: ["ROOT"]
            problems: []
            """)
    }

    @Test("a filter leaves what has the name or the reason")
    func filtered() throws {
        try expect(
            "filtered",
            """
            found: 2 directories, 5.0 MiB
            row: 1 | true | ROOT | 5.0 MiB | backed up
            row: 2 | false | mail | 5.0 MiB | backed up
            everything: ["ROOT: 21.0 MiB", ["kept", "excluded", "purgeable", "frame"]]
            backed up: ["ROOT: 16.0 MiB", ["kept", "purgeable", "frame"]]
            excluded: ["ROOT: 5.0 MiB", ["excluded", "purgeable"]]
            excluded: a directory for caches: ["ROOT: 1.0 MiB", ["purgeable"]]
            excluded: its mark: ["ROOT: 4.0 MiB", ["excluded"]]
            purgeable: caches: ["ROOT: 1.0 MiB", ["purgeable"]]
            purgeable: marked: ["ROOT: 3.0 MiB", ["purgeable"]]
            protected: complete VERDICT: ["ROOT: 2.0 MiB", ["kept", "frame"]]
            problems: []
            """)
    }

    @Test("all can be done by keyboard")
    func keyboard() throws {
        try expect(
            "keyboard",
            """
            ArrowDown: ["documents", null, "true", "in view", ["ROOT"]]
            ArrowDown: ["mail", "false", "true", "in view", ["ROOT"]]
            ArrowRight: ["mail", "true", "true", "in view", ["ROOT"]]
            ArrowRight: ["archive", null, "true", "in view", ["ROOT"]]
            ArrowLeft: ["mail", "true", "true", "in view", ["ROOT"]]
            ArrowLeft: ["mail", "false", "true", "in view", ["ROOT"]]
            End: [".cache", "false", "true", "in view", ["ROOT"]]
            Home: ["ROOT", "true", "true", "in view", ["ROOT"]]
            ArrowDown: ["documents", null, "true", "in view", ["ROOT"]]
            Enter: ["documents", null, "true", "in view", ["ROOT", "documents"]]
            Escape: ["documents", null, "true", "in view", ["ROOT"]]
            ArrowUp: ["ROOT", "true", "true", "in view", ["ROOT"]]
            focus: tree
            problems: []
            """)
    }

    @Test("the command that changes a directory is copied")
    func copied() throws {
        try expect(
            "copied",
            """
            copied: resval exclude ROOT/documents
            problems: []
            """)
    }

    @Test("the largest files are named, and the filter finds them, too")
    func files() throws {
        let tree = Tree {
            File("a/big.iso", [UInt8](repeating: 1, count: 5 << 20))
            Directory("a/b") { File("two.bin", [UInt8](repeating: 1, count: 2 << 20)) }
            Directory("zebra") {
                File("three.mov", [UInt8](repeating: 1, count: 3 << 20))
                File("\u{202E}gpj.exe", [UInt8](repeating: 1, count: 1 << 20))
            }
        }
        let page = try page(of: tree)
        let seen = try page.browse("files")
        #expect(
            seen == #"""
                files: ["5.0 MiB ROOT/a/big.iso", "3.0 MiB ROOT/zebra/three.mov", \#
                "2.0 MiB ROOT/a/b/two.bin", "1.0 MiB ROOT/zebra/$'\\342\\200\\256gpj.exe'"]
                filter: "three"
                title: Largest file below ROOT
                files: ["3.0 MiB ROOT/zebra/three.mov"]
                selected: ROOT
                window: 0 B – Where the space goes
                filter: "zebra"
                title: Largest 2 files below ROOT
                files: ["3.0 MiB ROOT/zebra/three.mov", "1.0 MiB ROOT/zebra/$'\\342\\200\\256gpj.exe'"]
                selected: ROOT/zebra
                window: 4.0 MiB – Where the space goes
                filter: "\u202egpj"
                title: Largest file below ROOT
                files: ["1.0 MiB ROOT/zebra/$'\\342\\200\\256gpj.exe'"]
                selected: ROOT
                window: 0 B – Where the space goes
                filter: ""
                title: Largest 4 files below ROOT
                files: ["5.0 MiB ROOT/a/big.iso", "3.0 MiB ROOT/zebra/three.mov", \#
                "2.0 MiB ROOT/a/b/two.bin", "1.0 MiB ROOT/zebra/$'\\342\\200\\256gpj.exe'"]
                selected: ROOT
                window: 11.0 MiB – Where the space goes
                clicked: ROOT/a
                problems: []
                """#)
    }

    @Test("columns sort, both ways")
    func ordered() throws {
        let tree = Tree {
            Directory("b") { Self.file(2) }
            Directory("a") { Self.file(1) }
            Directory("c") { Self.file(3) }.excluded()
        }
        let page = try page(of: tree)
        func rows(_ names: String) -> String {
            let rows = [
                "b": "row: 2 | - | b | 2.0 MiB | backed up",
                "a": "row: 2 | - | a | 1.0 MiB | backed up",
                "c": "row: 2 | - | c | 3.0 MiB | excluded: its mark",
            ]
            let root =
                "row: 1 | true | ROOT | 6.0 MiB | 50 % excluded: its mark, 50 % backed up"
            return ([root] + names.compactMap { rows[String($0)] }).joined(separator: "\n")
        }
        let seen = try page.browse("ordered").replacing("49 %", with: "50 %")
            .replacing(
                "50 % backed up, 50 % excluded: its mark",
                with: "50 % excluded: its mark, 50 % backed up")
        #expect(
            seen == """
                order: ["ascending", "none", "none", "none"]
                \(rows("abc"))
                order: ["descending", "none", "none", "none"]
                \(rows("cba"))
                order: ["none", "descending", "descending", "none"]
                \(rows("cba"))
                problems: []
                """)
    }

    @Test("what would help is proposed, and nothing of the home itself")
    func proposals() throws {
        let tree = Tree {
            File("project/package.json", "{}")
            Directory("project/node_modules") { Self.file(3) }
            Directory(".cache") { Directory("app") { Self.file(2) } }
        }
        let page = try page(of: tree)
        let seen = try page.browse("proposals").replacing(
            /last changed \d{4}-\d\d-\d\d/, with: "last changed DAY")
        #expect(
            seen == """
                proposal: ["leaves 3.0 MiB out of backups: node_modules beside package.json", \
                "resval exclude ROOT/project/node_modules"]
                proposal: ["deletes a cache of 2.0 MiB, last changed DAY", \
                "resval-purge run --free 2M --partial ROOT/.cache/app"]
                selected: ROOT
                commands: ["resval explain ROOT"]
                problems: []
                """)
    }

    @Test("a screen reader is told the rows with their levels, and what happens to each")
    func accessible() throws {
        try expect(
            "accessible",
            """
            node: searchbox | Name | {}
            node: combobox | Show | {"expanded": false}
            node: treegrid | Directories by size. Enter shows one in the map, Escape goes back. | {}
            node: row | Directory Size Share What happens to it | {}
            node: row | ROOT 21.0 MiB 100 % 52 % backed up, 19 % excluded: its mark, 14 % \
            backed up; purgeable: marked, 9 % backed up; protected: complete VERDICT, 4 % excluded: a \
            directory for caches; purgeable: caches | \
            {"level": 1, "expanded": true, "selected": true}
            node: row | documents 6.0 MiB 28 % backed up | {"level": 2, "selected": false}
            node: row | mail 5.0 MiB 23 % backed up | \
            {"level": 2, "expanded": false, "selected": false}
            node: row | build 4.0 MiB 19 % excluded: its mark | \
            {"level": 2, "expanded": false, "selected": false}
            node: row | thumbnails 3.0 MiB 14 % backed up; purgeable: marked | \
            {"level": 2, "selected": false}
            node: row | keys 2.0 MiB 9 % backed up; protected: complete VERDICT | \
            {"level": 2, "selected": false}
            node: row | .cache 1.0 MiB 4 % excluded: a directory for caches; purgeable: caches | \
            {"level": 2, "expanded": false, "selected": false}
            problems: []
            """)
    }

    @Test("the page's policy forbids what an injected script would try")
    func policy() throws {
        try expect(
            "policy",
            """
            violations: ["TypeError", "connect-src", "img-src", \
            "require-trusted-types-for", "style-src-attr", "style-src-elem"]
            body: flex
            problems: []
            """)
    }

    @Test("hostile names are only text, and commands lead to them")
    func names() throws {
        let injected: [FileName] = [
            "<!--", "-->", "]]>", "{{script}}", "&lt;b&gt;", "\u{202E}gpj.exe", "\u{2066}a\u{2069}",
            "javascript:ran=1", "__proto__", "constructor", "שלום",
        ]
        let names = HostileNames.all + injected
        let tree = Tree {
            for name in names { Directory(name) { File("file", "text") } }
            Directory("</script><img src=x onerror=ran=1><script>ran=1<") {
                File("script>/file", "text")
            }
        }
        let page = try page(of: tree)
        let seen = try page.browse("names").split(separator: "\n")
        #expect(seen.contains("elements: 2"))
        #expect(seen.contains("ran: undefined"))
        #expect(seen.last == "problems: []")
        // What the commands do in a shell.
        let commands = seen.compactMap { line in
            line.hasPrefix("command: resval exclude ") ? line.dropFirst(9) : nil
        }
        let script =
            #"resval() { printf '%s\0' "$2"; }"# + "\n"
            + commands.joined(separator: "\n").replacing("ROOT", with: page.root.string)
        let result = try Command(#require(FilePath.tool("bash")), "-c", script).run()
        let paths = Set((names + ["<"]).map { page.root.bytes + [0x2F] + $0.bytes })
        #expect(Set(result.records).isSuperset(of: paths), "\(result)")
        #expect(result.records.count == commands.count)
    }

    @Test("100,000 directories take 5 MB at most, and are there within a second")
    func large() throws {
        // In an image, from which nothing need be removed by name.
        let filesystem = try filesystem(.ext4SmallBlocks, size: 2 << 30)
        let root = filesystem.root.appending("home")
        try tool("python3", "-c", Self.manyDirectories, root)
        let page = try page(of: root, in: filesystem.root)
        let size = try tool("stat", "-c", "%s", page.page)
        #expect(Int(size) ?? .max <= 5_000_000)
        let seen = try page.browse("large")
        #expect(
            seen == """
                notes: ["501 smaller directories count in those above"]
                drawn within a second: true
                rows in the page: true
                rows: 302
                problems: []
                """)
    }

    private func expect(
        _ scenario: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let page = try page(of: Self.tree)
        // It depends on the volume that the test has its files on.
        let seen = try page.browse(scenario).replacing(
            /complete (advisory|unknown|at-rest-only)/, with: "complete VERDICT")
        #expect(seen == expected, sourceLocation: sourceLocation)
    }

    /// Makes directories with names that compress badly.
    private static let manyDirectories = """
        import hashlib, os, sys
        os.mkdir(sys.argv[1])
        for number in range(100500):
            name = hashlib.sha256(str(number).encode()).hexdigest()[:12]
            above = "" if number < 300 else hashlib.sha256(str(number % 300).encode()).hexdigest()[:12]
            os.mkdir(os.path.join(sys.argv[1], above, name))
        """
}
