import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("JSON output", .cleansUp)
struct JSONFieldsTests {
    /// Reads fields as ``documentation(_:_:)`` returns them: `fields TEXT` prints them; `check TEXT FORM`
    /// compares the objects on standard input with them, and prints what does not fit.
    private static let checker = #"""
        import base64, json, re, sys
        def fields(text):
            forms, form = {"": {}}, [""]
            for line in text.split("JSON FIELDS\n")[1].split("\n"):
                if not line.startswith("  "): break
                head = re.fullmatch(r"  (?:type|with) (.*):", line)
                if head:
                    form = head[1].split(", ")
                    for name in form: forms.setdefault(name, {})
                    continue
                field = re.fullmatch(r" +([\w\[\].]+): ([a-z]+(?: or [a-z]+)*)(, optional)?(?: \(.*\))?", line)
                if not field: sys.exit(f"not a field: {line!r}")
                for name in form if line.startswith("    ") else [""]:
                    forms[name][field[1]] = (field[2].split(" or "), bool(field[3]))
            return forms
        def is_a(kind, value):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z"
            return {"null": value is None, "boolean": isinstance(value, bool), "number": number,
                "string": isinstance(value, str),
                "strings": isinstance(value, list) and all(isinstance(v, str) for v in value),
                "time": isinstance(value, str) and re.fullmatch(time, value) is not None}[kind]
        def check(value, known, where):
            groups = {}
            for name, field in known.items():
                head, dot, rest = name.partition(".")
                if dot:
                    groups.setdefault(head, {})[rest] = field
                elif name not in value:
                    if not field[1]: yield f"{where}{name} is missing"
                elif not any(is_a(kind, value[name]) for kind in field[0]):
                    yield f"{where}{name} is {value[name]!r}"
            for head, inner in groups.items():
                name = head.removesuffix("[]")
                if name not in value and all(optional for _, optional in inner.values()): continue
                items = value.get(name)
                if head == name: items = [items]
                if not isinstance(items, list): yield f"{where}{name} is {items!r}"; continue
                for item in items: yield from check(item, inner, f"{where}{name}.")
            for name, found in value.items():
                if name not in known and name not in groups and name + "[]" not in groups:
                    yield f"{where}{name} is not documented"
                if name.endswith("Base64"):
                    base64.b64decode(found, validate=True)
                    if value[name[:-6]] is not None: yield f"{where}{name} is there for nothing"
                if name == "path" and found is None and "pathBase64" not in value:
                    yield f"{where}{name} has no bytes"
                if name == "snapshot" and found and not re.fullmatch("[0-9a-f]{16}|[0-9a-f]{64}", found):
                    yield f"{where}{name} is not an ID: {found}"
        verb, text, *rest = sys.argv[1:]
        forms = fields(text)
        if verb == "fields":
            for form in forms.values():
                for name, (kinds, _) in form.items():
                    print(name.split(".")[-1], [k for k in kinds if k != "null"])
        else:
            count = 0
            for line in sys.stdin:
                value = json.loads(line)
                known = dict(forms[""])
                if value.get("type") == "progress": known = {}
                known.update(forms.get(value.get("type"), {}))
                if rest: known.update(forms[rest[0]])
                for problem in check(value, known, ""): print(problem)
                count += 1
            if count == 0: print("there is no output")
        """#

    private func help(_ program: String, _ command: String) throws -> String {
        try Command(.built(program), command, "--help").runSuccessfully() + "\n"
    }

    /// What documents the output of a command: its section of resval-json(5).
    private func documentation(_ program: String, _ command: String) throws -> String {
        let page = try tool("cat", Self.page).replacing("\\-", with: "-").replacing("\\&", with: "")
        func fields(_ program: String, _ command: String) -> [String] {
            // A section may be about several commands.
            let section = page.split(separator: "\n.SH ").first { section in
                let title = section.prefix { $0 != "\n" }
                return title.hasPrefix("\(program) ")
                    && title.dropFirst(program.count + 1).split(separator: ", ")
                        .contains { $0 == command }
            }
            return lines(section ?? "")
        }
        func lines(_ section: Substring) -> [String] {
            section.split(separator: "\n").drop { $0 != ".nf" }.dropFirst()
                .prefix { $0 != ".fi" }.map(String.init)
        }
        let own = fields(program.uppercased(), command.uppercased())
        try #require(!own.isEmpty, "\(program) \(command)")
        let common = page.split(separator: "\n.SH ").last { $0.hasPrefix("PROGRESS\n") }
        let progress = lines(common ?? "").map { "    \($0)" }
        return
            (["JSON FIELDS", "  version: number (1)"] + own.map { "  \($0)" }
            + ["  with --progress json:", "    version: number (1)"] + progress)
            .joined(separator: "\n") + "\n\n"
    }

    private static let page = packageRoot.appending("scripts/installed/resval-json.5")

    private func python(_ arguments: [any CommandArgument], _ input: [UInt8] = []) throws
        -> String
    {
        return try Command(
            try #require(FilePath.tool("python3")), arguments: ["-c", Self.checker] + arguments,
            input: input
        ).runSuccessfully()
    }

    /// Compares a command's output with its documentation.
    private func expectDocumented(
        _ result: CommandResult, _ program: String, _ command: String, form: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let problems = try python(
            ["check", documentation(program, command)] + (form.map { [$0] } ?? []), result.output)
        #expect(problems == "", "\(command): \(result)", sourceLocation: sourceLocation)
    }

    @Test("every command with --json documents its fields, and one name is one thing in all")
    func names() throws {
        var kinds: [Substring: Set<Substring>] = [:]
        for program in ["resval", "resval-backup", "resval-purge"] {
            for command in try completions(of: program, "")
            where !["help", "backup", "purge"].contains(command) {
                guard try help(program, command).contains("\n  --json ") else { continue }
                let text = try documentation(program, command)
                for field in try python(["fields", text]).split(separator: "\n") {
                    let parts = field.split(separator: " ", maxSplits: 1)
                    kinds[parts[0], default: []].insert(parts[1])
                }
            }
        }
        // A value has the type of its key.
        kinds["value"] = nil
        for (name, types) in kinds { #expect(types.count == 1, "\(name): \(types)") }
    }

    private static let tree = Tree {
        File("marked", "text").excluded()
        File("plain", "text")
        File(FileName([0x61, 0xFF]), "text").excluded()
        File("broken", "text").attribute(StoredKey.isPurgeable.attribute, "x")
        Directory("directory") { SymbolicLink("link", to: "nowhere") }
    }

    /// An older output of usage, in which a directory was empty.
    private static func usageOfNothing(_ root: FilePath) -> String {
        """
        {"version":1,"type":"directory","path":"\(root)","depth":0,"allocatedBytes":0}
        {"version":1,"type":"totals","listsAll":true,"isPartial":false}

        """
    }

    @Test("resval prints what resval-json(5) says")
    func marks() throws {
        let root = try temporaryDirectory(containing: Self.tree)
        func check(_ arguments: any CommandArgument...) throws {
            let command = Command(
                .built("resval"), arguments: arguments, in: root, environment: ["HOME": root.string]
            )
            let name = String(decoding: arguments[0].argumentBytes, as: UTF8.self)
            try expectDocumented(command.run(), "resval", name)
        }
        let odd: [UInt8] = [0x61, 0xFF]
        for key in ["excluded", "fileSize", "contentModificationDate", "protection"] {
            try check("get", "--json", key, "marked", "plain", odd, "broken", "nowhere")
        }
        try check("list", "--json", "marked", "plain", odd, "broken", "nowhere")
        try check("find", "--json", ".")
        try check("find", "--json", "--size", "--effective", "--excluded", ".")
        try check("explain", "--json", "marked", odd, "broken", "directory/link", "nowhere")
        try check("keys", "--json")
        let crate = FileName([0x62, 0xFF])
        try Tree {
            Directory(crate) {
                File("Cargo.toml")
                Directory("target")
            }
        }.create(in: root)
        try check("suggest", "--json", ".")
        try check("suggest", "--json", "--apply", ".")
        func journal() throws -> FilePath {
            let directory = root.appending(".local/state/resval")
            let names = try tool("ls", directory).split(separator: "\n")
                .filter { $0.hasSuffix(".jsonl") }
            return directory.appending(String(try #require(names.last)))
        }
        try check("undo", "--json", journal())
        try check("audit", "--json", ".")
        try check("usage", "--json", ".")
        try Tree { File("old.json", Self.usageOfNothing(root)) }.create(in: root)
        try check("usage", "--json", "--compare", "old.json", ".")
        try check("export", "--to", "xdg", "--json", "--dry-run", ".")
        try check("export", "--to", "xdg", "--json", ".")
        try check("import", "--from", "xdg", "--json", ".")
        try check("undo", "--json", "--dry-run", journal())
        try check("include", "--json", "marked")
        try check("set", "-R", "--json", "purgeable=true", "plain", odd)
    }

    @Test("resval-purge prints what resval-json(5) says")
    func purge() throws {
        let root = try temporaryDirectory {
            Directory("home/.cache") {
                File("app/unit", "text")
                File(FileName([0x61, 0xFF]), "text")
            }
        }
        func check(_ arguments: String...) throws {
            let command = Command(
                .built("resval-purge"), arguments: arguments,
                environment: ["HOME": root.appending("home").string, "TMPDIR": root.string])
            try expectDocumented(command.run(), "resval-purge", arguments[0])
        }
        let cache = root.appending("home/.cache").string
        try check("status", "--json")
        try check("status", "--json", "/proc")
        try check("plan", cache, "--free", "1B", "--json", "--kept")
        try check("plan", cache, "--free", "1B", "--min-age", "0", "--smallest", "0", "--json")
        try check(
            "run", cache, "--free", "1B", "--min-age", "0", "--smallest", "0", "--json",
            "--dry-run")
        try check("run", cache, "--free", "1B", "--min-age", "0", "--smallest", "0", "--json")
    }

    @Test("resval-backup prints what resval-json(5) says")
    func ofBackups() throws {
        let backup = try backup(of: Self.tree)
        func check(_ arguments: any CommandArgument..., form: String? = nil) throws {
            let name = String(decoding: arguments[0].argumentBytes, as: UTF8.self)
            try expectDocumented(backup.command(arguments).run(), "resval-backup", name, form: form)
        }
        try check("plan", "--json", backup.source)
        try check("create", "--json", backup.source)
        try tool("rm", backup("plain"))
        try Tree { File("new", String(repeating: "text", count: 30000)) }
            .create(in: backup.source)
        try check("create", "--json", backup.source)
        try check("snapshots", "--json")
        try check("show", "latest", "--json", form: "neither --items nor --excluded")
        try check("show", "latest", "--json", "--items", form: "--items")
        try check("show", "latest", "--json", "--excluded", form: "--excluded")
        let list = try backup.runSuccessfully("snapshots", "--json")
        try check("diff", #require(snapshotIdentifiers(in: list).first), "latest", "--json")
        try check("verify", "latest", "--read-data", "--json")
        try check("restore", "--snapshot", "latest", "--target", backup.target, "--json")
        try check("forget", "--keep-last", "1", "--json", "--dry-run")
        let new = backup("new")
        try check("evict", "--json", new, backup("marked"))
        try check("evict", "--list", "--json", backup.source)
        try check("restore", "--snapshot", "latest", "--target", "\(backup.target)2", "--json")
        try check("download", "--json", new)
        try check("prune", "--json")
        try backup.exclude(backup("directory"))
        try backup.create()
        try check("accept", "--json")
        try check("init", "--json", "--repository", "\(backup.base)/new")
    }

    @Test("--progress json prints what resval-json(5) says")
    func progress() throws {
        let backup = try backup(of: Self.tree)
        let result = try backup.command(
            ["create", "--progress", "json", backup.source],
            before: "case $1 in backup) sleep 1.5;; esac"
        ).run(exits: 0)
        // Messages for people stand between the objects, and begin with the program's name.
        let lines = result.errorOutput.split(separator: UInt8(ascii: "\n"))
        let (objects, others) = (
            lines.filter { $0.first == UInt8(ascii: "{") },
            lines.filter { $0.first != UInt8(ascii: "{") }
        )
        #expect(others.allSatisfy { $0.starts(with: "resval-backup: ".utf8) }, "\(result)")
        let problems = try python(
            ["check", documentation("resval-backup", "create"), "--progress json"],
            Array(objects.joined(separator: [UInt8(ascii: "\n")])))
        #expect(problems == "", "\(result)")
    }

    @Test("resval-backup run and status print what resval-json(5) says")
    func status() throws {
        let fixture = try configuredBackup { Self.tree }
        try expectDocumented(fixture.run("run", "--json"), "resval-backup", "run")
        try expectDocumented(fixture.run("status", "--json"), "resval-backup", "status")
    }
}
