import SystemPackage
import TestSupport
import Testing

@Suite("Hostile names through plan, create and restore")
struct HostileNameTests {
    @Test(
        "all names, stored and left out, come back byte for byte, with few exclusions and many",
        arguments: [0, 150])
    func roundTrip(extraExclusions: Int) throws {
        try withBackup(of: HostileTree.tree { _ in true }) { backup in
            try Tree {
                for number in 0..<extraExclusions { File("\(number)", "left out").excluded() }
            }.create(in: backup.source)
            let result = try backup.create("--json")
            #expect(result.text.contains(#""isComplete":true"#))
            #expect(result.text.contains(#""lostExclusions":[]"#))
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
            let second = try backup.create("--json")
            #expect(second.text.contains(#""newFiles":0,"changedFiles":0,"#), "\(second)")
            // The list became the snapshot's paths; the SOURCE is told all the same.
            let lines = try backup.runSuccessfully("snapshots", "--json").split(separator: "\n")
            #expect(
                lines.map { $0.hasSuffix(#""sources":[{"path":"\#(backup.source)"}]}"#) }
                    == [true, true])
        }
    }

    @Test("a SOURCE with a name that is no text is stored, listed and restored")
    func sources() throws {
        try withBackup(of: Tree { for name in HostileNames.all { File(name, "text") } }) { backup in
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
}
