import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Suggestions of what tools re-create", .cleansUp)
struct SuggestTests: SuggestSuite {
    private let tree = Tree {
        File("src/app/package.json", "{}")
        File("src/app/node_modules/large", String(repeating: "x", count: 200_000))
        File("src/app/node_modules/left-pad/package.json", "{}")
        Directory("src/app/node_modules/left-pad/node_modules")
        File("src/crate/Cargo.toml", "")
        File("src/crate/target/object", String(repeating: "x", count: 5000))
        File("src/done/Cargo.toml", "")
        Directory("src/done/target").excluded()
        File("src/wanted/Cargo.toml", "")
        Directory("src/wanted/target").excluded(false)
        File("src/.vscode/extensions/x/package.json", "{}")
        Directory("src/.vscode/extensions/x/node_modules")
    }

    private let sentences = (
        npm: "re-creatable: node_modules beside package.json (npm install)",
        cargo: "re-creatable: target beside Cargo.toml (cargo build)"
    )

    private func size(_ path: FilePath) throws -> Int {
        let text = try tool("du", "-s", "-B1", path).prefix { $0 != "\t" }
        return try #require(Int(text))
    }

    @Test("lists what tools made, the largest first, and nothing in it or excluded already")
    func list() throws {
        let root = try temporaryDirectory(containing: tree)
        let result = try run("suggest", "src", in: root)
        #expect(result.exitCode == 0)
        #expect(result.errorText == "")
        let lines = result.text.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(lines.count == 3)
        #expect(lines[0].hasSuffix("KiB  src/app/node_modules: \(sentences.npm)"))
        #expect(lines[1].hasSuffix("KiB  src/crate/target: \(sentences.cargo)"))
        #expect(lines[2].hasPrefix("total: 2 directories, "))
        let sizes = try (
            size(root.appending("src/app/node_modules")),
            size(root.appending("src/crate/target"))
        )
        expect(
            try run("suggest", "--json", "src", in: root), exits: 0,
            prints: #"""
                {"version":1,"type":"suggestion","path":"src/app/node_modules",\#
                "fileAllocatedSize":\#(sizes.0),"proof":"node_modules beside package.json",\#
                "tool":"npm install","reason":"package.json names what is in it"}
                {"version":1,"type":"suggestion","path":"src/crate/target",\#
                "fileAllocatedSize":\#(sizes.1),"proof":"target beside Cargo.toml",\#
                "tool":"cargo build","reason":"output of a build"}
                {"version":1,"type":"suggestions","directories":2,\#
                "fileAllocatedSize":\#(sizes.0 + sizes.1)}

                """#)
        expect(
            try run("suggest", "-0", "src", in: root), exits: 0,
            prints: "src/app/node_modules\0src/crate/target\0")
        // A ROOT inside another, or the same one again, adds nothing.
        #expect(
            try run("suggest", "src", "src/app/node_modules", "./src", in: root) == result)
        expect(
            try run("suggest", "src/done", in: root), exits: 0,
            prints: "total: 0 directories, 0 B\n")
        let nowhere = try run("suggest", "nowhere", "src/crate", in: root)
        nowhere.expect(exits: 2, prints: "src/crate/target")
        #expect(nowhere.errorText == "resval: nowhere: no such file or directory\n")
    }

    @Test("--apply excludes what is listed, and undo brings back exactly what there was")
    func applyAndUndo() throws {
        try require(.tool("getfattr"))
        let root = try temporaryDirectory(containing: tree)
        func dump() throws -> [String] {
            let marks = try run("marks", "save", "src", in: root)
            #expect(marks.exitCode == 0, "\(marks)")
            // The threads of a walk come to the items in any order.
            return [try tool("getfattr", "-Rd", "--absolute-names", root.appending("src"))]
                + marks.text.split(separator: "\n").map(String.init).sorted()
        }
        let before = try dump()
        let list = try run("suggest", "src", in: root)
        #expect(list.text.contains("total: 2 directories, "), "\(list)")
        try #expect(dump() == before)
        let applied = try run("suggest", "--apply", "src", in: root)
        #expect(applied.exitCode == 0, "\(applied)")
        let undo = try #require(applied.text.split(separator: "\n").last)
        #expect(undo.hasPrefix("items changed: 2; undo with: resval undo "))
        for path in ["src/app/node_modules", "src/crate/target"] {
            try #expect(run("get", "excluded", path, in: root).text == "true\n", "\(path)")
        }
        try #expect(run("get", "excluded", "src/wanted/target", in: root).text == "false\n")
        try #expect(run("suggest", "src", in: root).text == "total: 0 directories, 0 B\n")
        let undone = try run("undo", journal(in: root), in: root)
        #expect(undone.exitCode == 0, "\(undone)")
        #expect(undone.text.hasSuffix("marks undone: 2; not undone: 0\n"))
        try #expect(dump() == before)
    }

    @Test("--interactive excludes what is confirmed, and needs a terminal")
    func interactive() throws {
        try require(.tool("script"))
        let root = try temporaryDirectory(containing: tree)
        expect(
            try run("suggest", "--interactive", "src", in: root), exits: 2,
            complains: "resval: --interactive needs a terminal (use --apply)\n")
        let result = try Command(
            .built("resval"), "suggest", "--interactive", "src", in: root,
            environment: ["HOME": root.appending("home").string], input: Array("n\ny\n".utf8)
        ).onTerminal("dumb").run()
        #expect(result.exitCode == 0, "\(result)")
        #expect(
            result.text.contains("src/app/node_modules: 2"),
            "The size is part of the question: \(result)")
        #expect(result.text.contains("items changed: 1; undo with: resval undo "))
        try #expect(run("get", "excluded", "src/app/node_modules", in: root).exitCode == 1)
        try #expect(run("get", "excluded", "src/crate/target", in: root).exitCode == 0)
    }

    @Test("a directory that was marked since it was found is left as it is")
    func markedMeanwhile() throws {
        try require(.tool("script"), .tool("setfattr"))
        let root = try temporaryDirectory(containing: tree)
        for value in ["false", "perhaps"] {
            let script = """
                rm -f out
                { until grep -qF '[y/N]' out 2>/dev/null; do sleep 0.05; done
                  setfattr -n "$1" -v \(value) src/crate/target; echo y; } |
                script -qefc "'$0' suggest --interactive src/crate" out
                """
            try Command(
                try #require(FilePath.tool("bash")), "-c", script, FilePath.built("resval"),
                "\(StoredKey.isExcludedFromBackup.attribute)", in: root,
                environment: ["HOME": root.appending("home").string]
            ).run(exits: 2, prints: "is not the directory that was found any more")
            let target = root.appending("src/crate/target")
            let attribute = StoredKey.isExcludedFromBackup.attribute
            try #expect(target.extendedAttribute(named: attribute) == Array(value.utf8))
            try target.removeExtendedAttribute(named: attribute)
        }
    }

    @Test("names of any bytes and paths of any length are listed, applied and undone")
    func hostileNames() throws {
        let odd = FileName([0x61, 0xFF, 0x0A, 0x1B, 0x5B, 0x32, 0x4A])
        let long = FileName(stringLiteral: String(repeating: "d", count: 200))
        let root = try temporaryDirectory {
            Directory(odd) {
                File("Cargo.toml"); Directory("target") { File("x") }
            }
            NestedDirectories(long, depth: 25) {
                File("Cargo.toml")
                Directory("target") { File("x") }
            }
        }
        let listed = try run("suggest", ".", in: root)
        #expect(listed.text.contains(#"a\377\n\033[2J"#), "\(listed)")
        // The proof of a directory that no call can name in one piece cannot be read.
        listed.expect(exits: 2, says: "cannot be read and does not count")
        let names = try run("suggest", "-0", ".", in: root).records
        #expect(names == [Array("./".utf8) + odd.bytes + Array("/target".utf8)])
        _ = try run("suggest", "--apply", ".", in: root)
        let target = root.appending(odd).appending("target")
        try #expect(run("get", "excluded", target, in: root).text == "true\n")
        try #expect(run("undo", journal(in: root), in: root).exitCode == 0)
        try #expect(run("get", "excluded", target, in: root).exitCode == 1)
    }

    @Test("people's own rules count, and a broken line is an error with its number")
    func ownRules() throws {
        let root = try temporaryDirectory {
            File("src/make.me")
            File("src/out/x")
            Directory("home") { Directory(".config") { Directory("resval") } }
        }
        let settings = root.appending("home/.config/resval")
        func write(_ list: String, mode: UInt16 = 0o644) throws {
            try removeTree(at: settings)
            try Tree {
                File("resval/rules.tsv", list).permissions(mode)
            }.create(in: settings.removingLastComponent())
        }
        let rule = "out\tbeside:make.me\tmake out\tit is made\n"
        try write("# mine\n" + rule)
        let found = try run("suggest", "src", in: root)
        #expect(found.text.contains("re-creatable: out beside make.me (make out)"), "\(found)")
        try write(rule + "out\tsomewhere\tmake\tit is made\n")
        for arguments in [["suggest", "src"], ["explain", "--markers", "rules", "src"]] {
            let broken = try resval(
                arguments: arguments, in: root,
                environment: ["HOME": root.appending("home").string])
            #expect(broken.exitCode == 2, "\(broken)")
            #expect(broken.text == "")
            #expect(
                broken.errorText.contains(
                    "\(settings)/rules.tsv: line 2: 'somewhere' is not a proof"), "\(broken)")
        }
        // Without the marker the file is not read.
        try #expect(run("explain", "src", in: root).exitCode == 0)
        try write(rule, mode: 0o666)
        try run("suggest", "src", in: root).expect(exits: 2, says: "so its rules are not trusted")
        try require(.root)
        try write(rule)
        let file = settings.appending("rules.tsv")
        try tool("mv", file, root.appending("real.tsv"))
        try tool("ln", "-s", root.appending("real.tsv"), file)
        try #expect(run("suggest", "src", in: root).exitCode == 0)
        // Another user chooses which file of root's it is.
        try tool("chown", "1234", settings)
        try run("suggest", "src", in: root).expect(exits: 2, says: "a symbolic link leads to it")
    }

    @Test("explain, find and include name the rule")
    func reasons() throws {
        let root = try temporaryDirectory(containing: tree)
        let target = "src/crate/target"
        let markers = ["--no-locations", "--markers=native,rules"]
        expect(
            try run("explain", markers[0], markers[1], target, in: root), exits: 0,
            prints: """
                \(target):
                  isExcludedFromBackup: true: re-creatable: target beside Cargo.toml
                  isPurgeable: false: no mark says that it may be deleted
                  fileProtection: no class: no protection class is stored

                """)
        let json = try run(
            "explain", "--json", markers[0], markers[1], "\(target)/object", in: root
        ).text
        #expect(json.contains(#""value":true,"marker":"rules","reason":"inherited""#), "\(json)")
        let plain = try run("explain", "--no-locations", target, in: root).text
        #expect(plain.contains("isExcludedFromBackup: false"))
        let found = try run(
            "find", "--effective", "--excluded", "--sort", markers[0],
            markers[1], "src/crate", in: root)
        #expect(found.text == "\(target)\n\(target)/object\n")
        let get = try run(
            "get", "--effective", markers[0], markers[1], "excluded", target, in: root)
        #expect(get.text == "true\n")
        // In its home it is in no directory for temporary files.
        expect(
            try resval(
                "include", "--markers", "native,rules", target, in: root,
                environment: ["HOME": root.string]), exits: 0,
            prints: "\(target): isExcludedFromBackup=false: without it, re-creatable: target "
                + "beside Cargo.toml\n")
        let after = try run("explain", markers[0], markers[1], target, in: root).text
        #expect(after.contains("isExcludedFromBackup: false: its mark includes it"))
    }
}
