import SystemPackage
import TestSupport
import Testing

@Suite("Hostile names through plan, create and restore")
struct HostileNameTests {
    /// The names as files and as directories, kept and left out side by side.
    private func tree(extraExclusions: Int) -> Tree {
        Tree {
            Directory("kept") {
                for name in HostileNames.all { File(name, "kept") }
            }
            Directory("kept directories") {
                for name in HostileNames.all {
                    Directory(name) { File("inside", "kept") }
                }
            }
            Directory("left out") {
                for name in HostileNames.all { File(name, "left out").excluded() }
                // What a pattern that is too wide would take along.
                File("new\rline", "kept")
                File("new line", "kept")
                File("trailing space", "kept")
                File("# commen", "kept")
                File("-r", "kept")
                File("+ *", "kept")
                File("*?a{b,c}\\", "kept")
                File(FileName([0x62, 0x81, 0x61, 0xFF, 0x64, 0xE2, 0x82]), "kept")
            }
            Directory("left out directories") {
                for name in HostileNames.all {
                    Directory(name) { File("inside", "left out") }.excluded()
                }
            }
            Directory("many") {
                for number in 0..<extraExclusions {
                    File(FileName(Array("\(number)".utf8)), "left out").excluded()
                }
                File("kept", "kept")
            }
        }
    }

    @Test(
        "all names, kept and left out, come back byte for byte, with few exclusions and many",
        arguments: [0, 150])
    func roundTrip(extraExclusions: Int) throws {
        try withBackup(of: tree(extraExclusions: extraExclusions)) { backup in
            let result = try backup.run("create", "--json", backup.source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.text.contains(#""isComplete":true"#))
            #expect(result.text.contains(#""lostExclusions":[]"#))
            #expect(result.errorText == "")
            try backup.runSuccessfully("restore", "--snapshot", "latest", "--target", backup.target)
            let source = try TreeListing(of: backup.source)
            var expected = source
            expected.remove { path in
                path.starts(with: "/left out/".utf8) && source.text(at: path).contains("=\"true\"")
                    || path.starts(with: "/left out directories/".utf8)
                        && path.reversed().starts(with: "/inside".utf8.reversed())
                    || path.starts(with: "/many/".utf8) && path != Array("/many/kept".utf8)
            }
            let restored = try TreeListing(of: backup.restored(backup.source))
            #expect(restored.differences(from: expected) == [])
        }
    }

    @Test("the second snapshot of a list finds its predecessor and reads nothing again")
    func parentOfList() throws {
        try withBackup(of: tree(extraExclusions: 150)) { backup in
            try backup.runSuccessfully("create", backup.source)
            let second = try backup.runSuccessfully("create", "--json", backup.source)
            #expect(
                second.contains(#""newFiles":0,"changedFiles":0,"unchangedFiles":51,"#), "\(second)"
            )
            let snapshots = try backup.runSuccessfully("snapshots", "--json")
            let lines = snapshots.split(separator: "\n")
            #expect(lines.count == 2)
            // The list became the snapshot's paths; the SOURCE is told all the same.
            #expect(
                lines.allSatisfy { $0.hasSuffix(#""sources":[{"path":"\#(backup.source)"}]}"#) })
        }
    }

    @Test("a SOURCE with a name that is no text is stored, listed and restored")
    func sources() throws {
        try withBackup(of: Tree { for name in HostileNames.all { File(name, "text") } }) { backup in
            let sources = HostileNames.all.map {
                backup.source.appending($0) as any CommandArgument
            }
            let created = try backup.command(["create"] + sources).run()
            #expect(created.exitCode == 0, "\(created)")
            try backup.runSuccessfully("restore", "--snapshot", "latest", "--target", backup.target)
            let restored = try TreeListing(of: backup.restored(backup.source))
            #expect(try restored.differences(from: TreeListing(of: backup.source)) == [])
            let again = try backup.command(["create", "--json"] + sources.reversed()).run()
            let counts = #""newFiles":0,"changedFiles":0,"unchangedFiles":21,"#
            #expect(again.text.contains(counts), "\(again)")
        }
    }

    @Test("single names can be restored, and others that a pattern could match are not")
    func include() throws {
        let tree = Tree {
            for name in HostileNames.all { File(name, "text") }
            for name in HostileNames.all where name.bytes.count < 255 {
                File(FileName(name.bytes + [UInt8(ascii: "x")]), "other")
            }
            File("new line", "other")
            File("aZ", "other")
        }
        try withBackup(of: tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let includes = HostileNames.all.flatMap { name -> [any CommandArgument] in
                [backup.source.appending(name)]
            }
            let result = try backup.command(
                ["restore", "--snapshot", "latest", "--target", backup.target] + includes
            ).run()
            #expect(result.exitCode == 0, "\(result)")
            let restored = try TreeListing(of: backup.restored(backup.source))
            let names = HostileNames.all.map { Array("/".utf8) + $0.bytes }
            #expect(Set(restored.items.keys) == Set(names + [[]]))
        }
    }
}
