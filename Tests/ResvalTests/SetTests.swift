import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval set and unset", .cleansUp)
struct SetTests {
    @Test(
        "a value is taken as yes, on, true or 1, in any case, and stored in one form",
        arguments: [
            ("Yes", "true"), ("ON", "true"), ("True", "true"), ("1", "true"), ("nO", "false"),
            ("off", "false"), ("FALSE", "false"), ("0", "false"),
        ])
    func words(word: String, value: String) throws {
        let root = try temporaryDirectory { File("file") }
        let path = root.appending("file")
        expect(
            // In its home the file is in no directory for temporary files, as a warning would say.
            try resval(
                "set", "EXCLUDED=\(word),Protection=COMPLETE", "file", in: root,
                environment: ["HOME": root.string]),
            exits: 0,
            complains: """
                resval: warning: programs that save by writing a new file drop this mark \
                (mark the directory instead)

                """)
        try #expect(
            path.extendedAttribute(named: StoredKey.isExcludedFromBackup.attribute)
                == Array(value.utf8))
        try #expect(path.fileProtection == .complete)
        expect(try resval("test", "excluded=\(word)", "file", in: root), exits: 0)
        expect(
            try resval("find", "--protection", "Complete", in: root), exits: 0,
            prints: "./file\n")
        expect(try resval("unset", "ALL", "file", in: root), exits: 0)
        try #expect(path.marks().isEmpty)
    }

    @Test("a second value as an operand is refused before anything is stored, unless it is a file")
    func assignmentAsOperand() throws {
        let root = try temporaryDirectory {
            File("file")
            File("purgeable=true")
        }
        let refused = try resval("set", "excluded=yes", "file", "Purgeable=NO", in: root)
        #expect(refused.exitCode == 64)
        #expect(
            refused.errorText.hasPrefix(
                """
                resval: there is no file 'Purgeable=NO': put commas between values \
                (isExcludedFromBackup=true,Purgeable=NO)
                Usage: resval set
                """))
        #expect(refused.errorText.hasSuffix("\n  See 'resval set --help' for more information.\n"))
        try #expect(root.appending("file").marks().isEmpty)
        expect(try resval("set", "excluded=yes", "purgeable=true", "file", in: root), exits: 0)
        for name in ["file", "purgeable=true"] {
            try #expect(root.appending(name).marks() == Marks(isExcludedFromBackup: true))
        }
        // A path that is no assignment is a path.
        expect(
            try resval("set", "excluded=yes", "./purgeable=no", "a=b", in: root), exits: 2,
            complains: """
                resval: ./purgeable=no: no such file or directory
                resval: a=b: no such file or directory

                """)
    }

    @Test("a key that is unset already is a success, and all removes every key")
    func unset() throws {
        let root = try temporaryDirectory { File("file").excluded().purgeable().protection(.none) }
        let file = root.appending("file")
        try expectTranscript("$ resval unset excluded file\n$ resval unset excluded file", in: root)
        try #expect(file.marks().isPurgeable == true)
        expect(try resval("unset", "all", "file", in: root), exits: 0)
        try #expect(file.marks().isEmpty)
    }

    @Test(
        "a malformed mark is repaired by set and removed by unset",
        arguments: [("set purgeable=true", true), ("unset purgeable", nil)] as [(String, Bool?)])
    func repairs(words: String, value: Bool?) throws {
        let root = try temporaryDirectory {
            File("file").attribute(StoredKey.isPurgeable.attribute, "garbage")
        }
        try expectTranscript("$ resval \(words) file", in: root)
        try #expect(root.appending("file").marks() == Marks(isPurgeable: value))
    }

    @Test("every hostile name is marked, read and listed unchanged", arguments: HostileNames.all)
    func hostileNames(name: FileName) throws {
        let root = try temporaryDirectory {
            File(name)
            File("decoy")
        }
        let path = root.appending(name)
        try #expect(resval("set", "excluded=true", "--", name.bytes, in: root).exitCode == 0)
        try #expect(path.value(for: .isExcludedFromBackup) == true)
        try #expect(root.appending("decoy").marks().isEmpty)

        let read = try resval("get", "-0H", "excluded", "--", name.bytes, in: root)
        #expect(read.output == name.bytes + Array(": true".utf8) + [0])
        let listed = try resval(
            "get", "-0", "excluded", "--files0-from", "-", in: root,
            input: nulEnded([name.bytes]))
        #expect(listed.output == read.output)
        let json = try resval("list", "--json", "--", name.bytes, in: root)
        #expect(pathInJSON(json.text) == name.bytes)

        let lines = try resval("get", "-H", "excluded", "--", name.bytes, in: root)
        #expect(lines.output.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        #expect(lines.output.last == UInt8(ascii: "\n"))
        try #expect(resval("unset", "all", "--", name.bytes, in: root).exitCode == 0)
        try #expect(path.marks().isEmpty)
    }

    @Test(
        "the escaped form of every hostile name is read back by bash", arguments: HostileNames.all)
    func escapedNames(name: FileName) throws {
        try require(.tool("bash"))
        let root = try temporaryDirectory { File(name).excluded() }
        let line = try resval("get", "-H", "excluded", "--", name.bytes, in: root).output
        let escaped = line.dropLast(": true\n".utf8.count)
        guard escaped.starts(with: "$'".utf8) else {
            #expect(Array(escaped) == name.bytes)
            return
        }
        let command = Command(
            try #require(FilePath.tool("bash")), "-c", Array("printf %s ".utf8) + Array(escaped),
            environment: ["LC_ALL": "C"])
        try #expect(command.run().output == name.bytes)
    }

    @Test("a file with several names, and a mark that saving drops, are warned of")
    func warnings() throws {
        let root = try temporaryDirectory {
            File("file")
            HardLink("twin", to: "file")
            File("single")
        }
        let linked = try resval("set", "excluded=true", "file", in: root)
        #expect(linked.exitCode == 0)
        #expect(linked.errorText.hasPrefix("resval: warning: 1 file "))
        #expect(linked.errorText.contains("with several hard links"))
        let fragile = try resval("set", "protection=complete", "single", "single", in: root)
        #expect(fragile.exitCode == 0)
        #expect(fragile.errorText.split(separator: "\n").count == 1)
        #expect(fragile.errorText.contains("mark the directory instead"))
        expect(try resval("set", "excluded=true", "single", in: root), exits: 0)
    }
}

/// The bytes of the path in the first line of JSON output.
private func pathInJSON(_ text: String) -> [UInt8]? {
    if text.hasPrefix(#"{"version":1,"path":null,"pathBase64":""#) {
        let encoded = text.dropFirst(#"{"version":1,"path":null,"pathBase64":""#.count).prefix {
            $0 != "\""
        }
        guard let base64 = FilePath.tool("base64") else { return nil }
        let command = Command(base64, "-d", input: Array(encoded.utf8))
        return try? command.run().output
    }
    guard let jq = FilePath.tool("jq") else { return nil }
    let command = Command(jq, "-j", ".path", input: Array(text.utf8))
    return try? command.run().output
}
