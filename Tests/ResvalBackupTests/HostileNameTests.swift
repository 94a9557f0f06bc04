import SystemPackage
import TestSupport
import Testing

@Suite("Hostile names through plan, create and restore", .cleansUp)
struct HostileNameTests {
    @Test(
        "all names, stored and left out, come back byte for byte, with few exclusions and many",
        arguments: [0, 150])
    func roundTrip(extraExclusions: Int) throws {
        let backup = try backup(of: HostileTree.tree { _ in true })
        try Tree {
            for number in 0..<extraExclusions { File("\(number)", "left out").excluded() }
        }.create(in: backup.source)
        let result = try backup.create(
            "--json", prints: #""isComplete":true"#, #""lostExclusions":[]"#)
        #expect(result.errorText == "")
        try backup.restore()
        var expected = try TreeListing(of: backup.source)
        let marked = expected.items.filter { $0.value.contains("FromBackup=\"true\"") }
        expected.remove { path in
            marked.contains { name, text in
                path.starts(with: text.hasPrefix("directory") ? name + [0x2F] : name)
                    && (text.hasPrefix("directory") || path == name)
            }
        }
        let restored = try TreeListing(of: backup.restored(backup.source))
        #expect(restored.differences(from: expected) == [])
        // The second snapshot, of a list, too, finds its predecessor and reads nothing again.
        try backup.create("--json", prints: #""newFiles":0,"changedFiles":0,"#)
        // The list became the snapshot's paths; the SOURCE is told all the same.
        let lines = try backup.runSuccessfully("snapshots", "--json").split(separator: "\n")
        #expect(
            lines.map { $0.hasSuffix(#""sources":[{"path":"\#(backup.source)"}]}"#) }
                == [true, true])
    }

    @Test("names of files that go before restic comes to them are not taken for its messages")
    func messages() throws {
        let full = "Load(x) returned error, retrying after no space left on device"
        let item = #"{"message_type":"error","error":{},"item":"\u002fetc\u002fpasswd"}"#
        let backup = try backup {
            for number in 0..<150 { File("out\(number)", "left out").excluded() }
            for number in 0..<40 { File("kept\(number)", "text") }
            for text in [full, item] { File(FileName(Array("gone\n\(text)\ny".utf8)), "text") }
        }
        let made = try backup.command(
            ["create", backup.source], beforeBackup: #"rm "\#(backup.source)"/gone*"#
        ).run(exits: 0)
        #expect(made.errorText.hasSuffix("2 items vanished while the backup ran\n"), "\(made)")
        #expect(made.errorText.split(separator: "\n").count == 1, "\(made)")
    }

    @Test("a SOURCE with a name that is no text is stored, listed and restored")
    func sources() throws {
        let backup = try backup { for name in HostileNames.all { File(name, "text") } }
        let sources = HostileNames.all.map {
            backup.source.appending($0) as any CommandArgument
        }
        try backup.command(["create"] + sources).run(exits: 0)
        try backup.restore()
        try backup.expectRestored()
        let again = try backup.command(["create", "--json"] + sources.reversed()).run()
        let counts = #""newFiles":0,"changedFiles":0,"unchangedFiles":21,"#
        #expect(again.text.contains(counts), "\(again)")
    }

    @Test("single names can be restored, and others that a pattern could match are not")
    func include() throws {
        let backup = try backup {
            for name in HostileNames.all { File(name, "text") }
            for name in HostileNames.all where name.bytes.count < 255 {
                File(FileName(name.bytes + [UInt8(ascii: "x")]), "other")
            }
            File("new line", "other")
            File("aZ", "other")
        }
        try backup.create()
        let includes = HostileNames.all.flatMap { name -> [any CommandArgument] in
            [backup.source.appending(name)]
        }
        try backup.command(
            ["restore", "--snapshot", "latest", "--target", backup.target] + includes
        ).run(exits: 0)
        let restored = try TreeListing(of: backup.restored(backup.source))
        let names = HostileNames.all.map { Array("/".utf8) + $0.bytes }
        #expect(Set(restored.items.keys) == Set(names + [[]]))
    }
}

/// The hostile names as files and directories, stored and left out side by side.
enum HostileTree {
    /// The tree, without the names that a tool cannot be given.
    static func tree(where isUsed: (FileName) -> Bool) -> Tree {
        let names = HostileNames.all.filter(isUsed)
        let decoys = decoys.filter(isUsed)
        return Tree {
            Directory("stored") {
                for name in names { File(name, "stored").purgeable() }
                File("left out here", "left out").excluded()
            }
            Directory("stored directories") {
                for name in names {
                    Directory(name) { File("inside", "stored") }
                }
            }
            Directory("left out") {
                for name in names { File(name, "left out").excluded() }
                for name in decoys { File(name, "stored") }
            }
            Directory("left out directories") {
                for name in names {
                    Directory(name) {
                        File("inside", "left out")
                        Directory("deeper") { File("inside", "left out") }
                    }.excluded()
                }
                for name in decoys {
                    Directory(name) { File("inside", "stored") }
                }
            }
            File("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
            File("cache/CACHEDIR.TA", "left out")
            File("cache/CACHEDIR.TAGS", "left out")
            File("cache/C", "left out")
            File("cache/deeper/CACHEDIR.TAG", "left out")
            SymbolicLink("link", to: "stored")
            HardLink("hard link", to: "stored/-rf")
            Fifo("fifo")
            Directory("empty")
            Directory("emptied") { File("only", "left out").excluded() }
        }
    }

    /// Names that one of the others becomes, or matches, when a tool misreads it.
    private static let decoys: [FileName] = [
        "new line", "new\rline", "trailing newline", "carriage return", "carriage\nreturn",
        "trailing carriage return", "tab stop", "leading space", "trailing space", "-r", "C", "-",
        "# commen", "comment", "+ *", "+ a", "*?a{b,c}\\", "*?b", "xya",
        "backslash", "$HOME", "'single' \"double\" ", "\u{1B}[31mre", "[31mred]0;title",
        // Names that become the same when a tool composes characters, which is not done in every
        // locale, and bytes that are not UTF-8 in other places.
        "caf\u{E9}", "cafe\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{FB01}", "\u{FFFD}",
        "\u{FEFF}mark", "a\u{2028}b", "\u{85}", "~", "%2F", FileName([0x61, 0xFF]),
        FileName([0x61, 0xFE]), FileName([0x62, 0x81, 0x61, 0xFF, 0x64, 0xE2, 0x82]),
    ]
}
