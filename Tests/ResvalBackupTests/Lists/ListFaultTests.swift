import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Writing a list when something is wrong", .cleansUp)
struct ListFaultTests {
    private func plan(
        _ source: FilePath, _ options: any CommandArgument...
    ) -> Command {
        let words: [any CommandArgument] =
            ["plan", "--no-locations", "--format", "nul"] + options + [source]
        return Command(.built("resval-backup"), arguments: words)
    }

    @Test(
        "a disk that is full leaves the old list, and nothing beside it", arguments: [true, false])
    func fullDisk(hasOldList: Bool) throws {
        let names = (0..<200).map { number in
            FileName(Array("\(number)".utf8) + Array(repeating: UInt8(ascii: "x"), count: 240))
        }
        let source = try temporaryDirectory { for name in names { File(name) } }
        let filesystem = try filesystem(.tmpfs, options: ["size=64k"])
        let list = filesystem.root.appending("list")
        if hasOldList { try Tree { File("list", "old") }.create(in: filesystem.root) }
        try Tree { File("filler", Array(repeating: 0, count: 50000)) }
            .create(in: filesystem.root)
        let result = try plan(source, "--output", list).run(exits: 1)
        #expect(result.output.isEmpty)
        #expect(result.errorText.contains("\(list): no space left on the volume"))
        let expected = ["filler"] + (hasOldList ? ["list"] : [])
        let left = try pathsBelow(filesystem.root)
        #expect(left == Set(expected.map { Array("/\($0)".utf8) } + [[]]))
        if hasOldList { #expect(try contentsOfFile(list) == Array("old".utf8)) }
    }

    @Test("a directory that does not exist is an error")
    func missingDirectory() throws {
        let source = try temporaryDirectory()
        let result = try plan(source, "--output", source.pushing("missing/list")).run(
            exits: 1, says: "\(source)/missing/list: ")
        #expect(result.output.isEmpty)
    }

    @Test("only a regular file is replaced")
    func otherKinds() throws {
        let base = try temporaryDirectory {
            Directory("source")
            Directory("directory")
            Fifo("fifo")
            SymbolicLink("link to fifo", to: "fifo")
            File("file", "old")
            SymbolicLink("link to file", to: "file")
        }
        for name: FileName in ["directory", "fifo", "link to fifo", "link to file"] {
            try plan(base.appending("source"), "--output", base.appending(name))
                .run(exits: 1, says: "is not a regular file")
        }
        let file = base.appending("file")
        #expect(try contentsOfFile(file) == Array("old".utf8))
        try plan(base.appending("source"), "--relative-to", base, "--output", file)
            .runSuccessfully()
        #expect(try contentsOfFile(file) == Array("./source\0".utf8))
        #expect(try file.status().permissions == 0o600)
    }

    @Test("a directory that cannot be read is named, the list is written, and the exit code is 3")
    func unreadable() throws {
        try require(.root, .tool("setpriv"))
        let base = try temporaryDirectory(isShared: true) {
            Directory("source/closed") { File("inside") }.permissions(0o700)
            File("source/open")
            Directory("lists").owned(by: 54321)
        }
        let list = base.pushing("lists/list")
        var command = plan(base.appending("source"), "--relative-to", base, "--output", list)
        command.user = 54321
        command.environment["HOME"] = "\(base)"
        try command.run(exits: 3, says: "\(base)/source/closed: cannot look inside")
        let expected = "./source\0./source/open\0./source/closed\0"
        #expect(try contentsOfFile(list) == Array(expected.utf8))
    }

    @Test("a reader that goes away ends the program by SIGPIPE")
    func brokenPipe() throws {
        let source = try temporaryDirectory { for number in 0..<3000 { File("f\(number)") } }
        let script =
            #""$1" plan --format nul --no-locations "$2" | head -c 10 >/dev/null; "#
            + #"echo "${PIPESTATUS[0]}""#
        let result = try Command(
            "/bin/bash", "-c", script, "bash", FilePath.built("resval-backup"), source
        ).run()
        #expect(result.text == "141\n")
    }

    @Test("options that need another, and a format that is not known, are usage errors")
    func usage() throws {
        let base = try temporaryDirectory()
        let program = FilePath.built("resval-backup")
        for words: [any CommandArgument] in [
            ["plan", "--output", base.appending("list"), base],
            ["plan", "--relative-to", base, base], ["plan", "--allow-plaintext", base],
            ["plan", "--format", "zip", base], ["plan", "--format", "nul", "--json", base],
            ["plan", "--format", "nul", "--excluded-only", base],
        ] {
            let result = try Command(program, arguments: words).run(exits: 64)
            let asksForJSON = words.contains { $0.argumentBytes.elementsEqual("--json".utf8) }
            #expect(result.output.isEmpty == !asksForJSON, "\(result)")
        }
    }

    @Test("a SOURCE outside the directory that names are relative to writes no list")
    func outside() throws {
        let base = try temporaryDirectory {
            Directory("source")
            Directory("other")
            Directory("sour")
            File("file")
        }
        let list = base.appending("list")
        for name: FileName in ["other", "sour"] {
            try plan(
                base.appending("source"), "--relative-to", base.appending(name), "--output",
                list
            ).run(exits: 1, says: "\(base)/source: is not in the directory")
            #expect(!list.exists)
        }
        let file = base.appending("file")
        try plan(file, "--relative-to", file, "--output", list).run(exits: 1, says: "\(file): ")
        #expect(!list.exists)
    }

    @Test("files with a protection class are named and not in the list, unless they are to be")
    func plaintext() throws {
        let source = try temporaryDirectory {
            File("free")
            File("protected").protection(.complete)
            Directory("vault") {
                File("inside"); File("open").protection(.none)
            }
            .protection(.completeUntilFirstUserAuthentication)
        }
        let result = try plan(source, "--relative-to", source).run(exits: 3)
        for name in ["protected", "vault/inside"] {
            #expect(result.errorText.contains("\(source)/\(name): is not in the list: it must not"))
        }
        #expect(result.text == "./free\0./vault\0./vault/open\0")
        let allowed = try plan(source, "--relative-to", source, "--allow-plaintext").run(exits: 0)
        #expect(allowed.errorText == "")
        #expect(allowed.text == "./free\0./protected\0./vault\0./vault/inside\0./vault/open\0")
    }

    @Test("an excluded SOURCE, and one that is missing, write no list or say so")
    func sources() throws {
        let base = try temporaryDirectory {
            Directory("left out").excluded(); Directory("stored")
        }
        let list = base.appending("list")
        try plan(base.appending("left out"), "--output", list).run(exits: 1)
        #expect(!list.exists)
        try plan(
            base.appending("stored"), "--relative-to", base, "--output", list,
            base.appending("missing")
        ).run(exits: 3)
        #expect(try contentsOfFile(list) == Array("./stored\0".utf8))
    }
}
