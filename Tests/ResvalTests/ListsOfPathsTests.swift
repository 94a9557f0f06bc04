import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("--files0-from", .cleansUp)
struct ListsOfPathsTests {
    @Test("a list from a file and from standard input is the same; it may be empty, not missing")
    func sources() throws {
        let root = try temporaryDirectory {
            File("a").excluded()
            File("b").excluded()
            File("list", "a\u{0}b\u{0}")
        }
        try expectTranscript(
            """
            $ resval get excluded --files0-from list
            a: true
            b: true
            $ resval get excluded --files0-from - < list
            a: true
            b: true
            $ resval get excluded --files0-from /dev/null
            $ resval get excluded --files0-from none
            ! resval: none: no such file or directory
            [2]
            """, in: root)
    }

    @Test("a list cut short is not acted upon at its end, the paths before are")
    func cutShort() throws {
        let root = try temporaryDirectory {
            File("a")
            Directory("b") { File("c") }
        }
        try resval(
            "set", "excluded=true", "--files0-from", "-", in: root,
            input: Array("a\0b".utf8), environment: ["XDG_STATE_HOME": root.string]
        ).expect(exits: 2, says: "ends without a NUL after b, which was skipped")
        try #expect(root.appending("a").value(for: .isExcludedFromBackup) == true)
        try #expect(root.appending("b").marks().isEmpty)
    }

    @Test("empty and endless records are reported, the others done")
    func badRecords() throws {
        let root = try temporaryDirectory { File("a").excluded() }
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000)
        let result = try resval(
            "get", "excluded", "--files0-from", "-", in: root,
            input: nulEnded([[], long, Array("a".utf8)]))
        expect(
            result, exits: 2, prints: "a: true\n",
            complains: """
                resval: -: the list contains an empty path (end each path with one NUL)
                resval: -: a path in the list is longer than 1 MiB (end each path with a NUL)

                """)
    }

    @Test("paths beyond PATH_MAX are marked and read")
    func longPaths() throws {
        let name = FileName(Array(String(repeating: "n", count: 200).utf8))
        let depth = 30
        let root = try temporaryDirectory { NestedDirectories(name, depth: depth) { File("file") } }
        var path: [UInt8] = []
        for _ in 0..<depth { path += name.bytes + [UInt8(ascii: "/")] }
        path += Array("file".utf8)
        let set = try resval(
            "set", "excluded=true,purgeable=true", "--files0-from", "-", in: root,
            input: nulEnded([path]), environment: ["XDG_STATE_HOME": root.string])
        #expect(set.exitCode == 0 && set.errorText == "", "\(set)")
        expect(try resval("get", "purgeable", path, in: root), exits: 0, prints: "true\n")
    }

    // Paths that follow one another in a directory are named from there, so each turn of directories
    // and each odd form of a path must still lead to the file it names.
    @Test("the directory of one path is not that of the next")
    func directories() throws {
        let root = try temporaryDirectory(isShared: true) {
            for name: FileName in ["a", "b"] {
                Directory(name) {
                    File("1", "\(name)").excluded(name == "a")
                    File("2").excluded(name == "b")
                    Directory("d") { File("1") }.excluded()
                }
            }
            SymbolicLink("link", to: "b")
            Directory("closed") { File("1").excluded() }.permissions(0o600)
            File("1").excluded()
        }
        let paths = [
            "a/1", "a/2", "b/2", "b/1", "b/1", "b/d", "b/d/", "b/d/.", "b/d/..", "b//1", "b//2",
            "link/1", "link/2", "./link/2", "1", "a/./1", "a/missing", "a/1", "missing/1",
            "missing/2", "a/1/x", "a/1/y", "\(root)/a/1", "\(root)/a/2",
        ]
        let list = nulEnded(paths.map { Array($0.utf8) })
        let result = try resval("get", "excluded", "--files0-from", "-", in: root, input: list)
        var one: (output: String, errors: String) = ("", "")
        for path in paths {
            let answer = try resval("get", "excluded", path, in: root)
            if !answer.text.isEmpty { one.output += "\(path): \(answer.text)" }
            one.errors += answer.errorText
        }
        expect(result, exits: 2, prints: one.output, complains: one.errors)
        #expect(one.output.contains("b/2: true\n"))
        #expect(one.output.contains("link/1: false\n"))
    }

    @Test("every file of a closed directory is reported")
    func closedDirectory() throws {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            Directory("closed") {
                File("1"); File("2")
            }.permissions(0o600)
        }
        let program = root.appending("resval")
        try TestSupport.tool("cp", FilePath.built("resval"), program)
        let result = try Command(
            program, arguments: ["get", "excluded", "--files0-from", "-"], in: root,
            input: nulEnded(["closed/1", "closed/2", "closed/2"].map { Array($0.utf8) }),
            user: 54321
        ).run()
        #expect(result.exitCode == 2)
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.contains("permission denied") })
    }
}
