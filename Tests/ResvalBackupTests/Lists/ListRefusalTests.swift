import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A list that a tool cannot be told in full")
struct ListRefusalTests {
    /// Runs `resval-backup plan` for a format on a directory, with the list in `list` beside it.
    private func plan(
        _ format: String, _ source: FilePath, _ options: String...
    ) throws -> (result: CommandResult, list: FilePath) {
        let list = source.removingLastComponent().appending("list")
        let words: [any CommandArgument] =
            ["plan", "--no-locations", "--format", format, "--output", list] + options + [source]
        return (try Command(.built("resval-backup"), arguments: words).run(), list)
    }

    private func withSource(_ tree: Tree, _ body: (FilePath) throws -> Void) throws {
        try withTemporaryDirectory(containing: Tree { Directory("source") }) { base in
            try tree.create(in: base.appending("source"))
            try body(base.appending("source"))
        }
    }

    private func text(_ file: FilePath) throws -> String {
        String(decoding: try contentsOfFile(file), as: UTF8.self)
    }

    @Test("is not written, every such name is told, and what was at the path stays")
    func strict() throws {
        let tree = Tree {
            File("plain")
            File("carriage\rreturn")
            Directory("also\r") { File("inside") }
        }
        try withSource(tree) { source in
            try Tree { File("list", "the old list") }.create(in: source.removingLastComponent())
            let (result, list) = try plan("borg", source)
            #expect(result.exitCode == 1)
            #expect(result.output.isEmpty)
            for name in [#"carriage\rreturn"#, #"also\r"#, #"also\r/inside"#] {
                #expect(result.errorText.contains("\(source)/\(name)': cannot be stored: borg"))
            }
            #expect(
                result.errorText.contains("no list was written: borg cannot represent 3 items"))
            #expect(try text(list) == "the old list")
            let below = source.removingLastComponent()
            #expect(try pathsBelow(below).count == 1 + 1 + 1 + 4)
        }
    }

    @Test("is written without those names when asked for, with exit code 3")
    func notStrict() throws {
        let tree = Tree {
            File("plain"); File("carriage\rreturn")
        }
        try withSource(tree) { source in
            let (result, list) = try plan("borg", source, "--no-strict")
            #expect(result.exitCode == 3)
            #expect(result.errorText.contains("cannot be stored"))
            #expect(try text(list) == "\(source)\0\(source)/plain\0")
        }
    }

    @Test(
        "keeps an item that no pattern tells from another one",
        arguments: ["rclone", "duplicity"])
    func doubles(format: String) throws {
        let (name, double) = (FileName([0x61, 0xFF]), FileName([0x61, 0xFE]))
        let tree = Tree {
            File(name).excluded(); File(double); File("clear").excluded()
        }
        try withSource(tree) { source in
            let (result, list) = try plan(format, source)
            #expect(result.exitCode == 1)
            #expect(result.errorText.contains("/a\\377': cannot be excluded: \(format)"))
            #expect(throws: Errno.noSuchFileOrDirectory) { try list.status() }
            let (second, _) = try plan(format, source, "--no-strict")
            #expect(second.exitCode == 0, "\(second)")
            #expect(second.errorText.contains("/a\\377': warning: cannot be excluded: \(format)"))
            let written = try text(list)
            #expect(written.contains("clear"))
            #expect(!written.contains("\u{FFFD}"))
        }
    }

    @Test("leaves out an item with bytes that are not UTF-8 where nothing else looks like it")
    func withoutDouble() throws {
        let tree = Tree {
            File(FileName([0x61, 0xFF])).excluded(); File("a"); File("ab")
        }
        try withSource(tree) { source in
            for format in ["rclone", "duplicity"] {
                let (result, _) = try plan(format, source)
                #expect(result.exitCode == 0, "\(format): \(result)")
            }
        }
    }

    @Test("keeps an item whose name with a newline behind it is another one's, for duplicity")
    func newlineDouble() throws {
        let tree = Tree {
            File("a").excluded(); File("a\n")
        }
        try withSource(tree) { source in
            let (result, _) = try plan("duplicity", source)
            #expect(result.exitCode == 1)
            #expect(result.errorText.contains("/a: cannot be excluded: duplicity"))
        }
    }

    @Test("names what rclone stores no files of that kind for")
    func kinds() throws {
        try withSource(
            Tree {
                Fifo("fifo"); Socket("socket"); File("file")
            }
        ) { source in
            let (result, _) = try plan("rclone", source)
            #expect(result.exitCode == 1)
            #expect(result.errorText.contains("/fifo: cannot be stored: rclone stores files,"))
            #expect(!result.errorText.contains("/socket"))
        }
    }

    @Test(
        "lacks protected items where anybody can read what the tool stores",
        arguments: ["tar", "bsdtar", "rsync", "rclone", "nul"])
    func plaintext(format: String) throws {
        let tree = Tree {
            File("free")
            File("protected").protection(.complete)
            Directory("vault") {
                File("inside"); File("open").protection(.none)
            }
            .protection(.completeUntilFirstUserAuthentication)
        }
        try withSource(tree) { source in
            let (result, list) = try plan(format, source)
            #expect(result.exitCode == 3)
            for name in ["protected", "vault/inside"] {
                #expect(
                    result.errorText.contains("\(source)/\(name): is not in the list: it must not"))
            }
            let written = try text(list)
            if format == "rclone" {
                #expect(written.contains("- \(source)/protected\n- \(source)/vault/inside\n"))
                #expect(!written.contains("free"))
                #expect(!written.contains("open"))
            } else {
                #expect(!written.contains("protected"))
                #expect(!written.contains("inside"))
                #expect(written.contains("/vault\0"))
                #expect(written.contains("/vault/open\0"))
            }
            let (allowed, _) = try plan(format, source, "--allow-plaintext")
            #expect(allowed.exitCode == 0, "\(allowed)")
            #expect(allowed.errorText.contains("protected") == false)
            #expect(try text(list).contains("/protected") == (format != "rclone"))
        }
    }

    @Test(
        "has protected items where the tool encrypts",
        arguments: ["restic", "borg", "duplicity"])
    func encrypted(format: String) throws {
        try withSource(Tree { File("protected").protection(.complete) }) { source in
            let (result, list) = try plan(format, source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try text(list).contains("/protected") == (format == "borg"))
        }
    }
}
