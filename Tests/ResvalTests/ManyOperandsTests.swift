import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Many operands", .cleansUp)
struct ManyOperandsTests {
    private func files(_ range: Range<Int>) -> [String] { range.map { "f\($0)" } }

    private func directory(with names: [String]) throws -> FilePath {
        let root = try temporaryDirectory()
        for name in names { try tool("touch", root.appending(name)) }
        return root
    }

    private func run(_ arguments: [String], in root: FilePath) throws -> CommandResult {
        try resval(
            arguments: arguments, in: root,
            environment: ["XDG_STATE_HOME": root.appending("state").string])
    }

    @Test("paths are taken in their order, with options before, between and behind them")
    func order() throws {
        let root = try directory(with: files(0..<60))
        let set =
            ["set", "purgeable=true"] + files(0..<30) + ["-Rx"] + files(30..<60)
        try #expect(run(set, in: root).exitCode == 0)
        let get =
            ["get", "purgeable"] + files(0..<20) + ["-H0"]
            + files(20..<60)
        expect(
            try run(get, in: root), exits: 0,
            prints: files(0..<60).map { "\($0): true\0" }.joined())
        let unset = ["unset", "-R", "all", "--"] + files(0..<60)
        try #expect(run(unset, in: root).exitCode == 0)
        expect(try run(["get", "purgeable"] + files(0..<60), in: root), exits: 1)
    }

    @Test("an option's value between the paths is no path, in each of its forms")
    func values() throws {
        let root = try directory(with: files(0..<40))
        for name in files(5..<35) {
            try root.appending(name).setValue(.protection(.complete), for: .fileProtection)
        }
        let found = files(5..<35).map { "\($0)\n" }.sorted().joined()
        for option in [["--protection", "complete"], ["--protection=complete"]] {
            expect(
                try run(["find"] + files(0..<20) + option + files(20..<40) + ["--sort"], in: root),
                exits: 0, prints: found)
        }
    }

    @Test("names that begin with a dash, and names that are not UTF-8, come after --")
    func names() throws {
        let root = try temporaryDirectory()
        let names = (0..<40).map { Array("-x\($0)".utf8) + [0xFF] }
        for name in names { try tool("touch", root.pushing(FilePath(bytes: name))) }
        let arguments: [any CommandArgument] = ["set", "purgeable=true", "--"] + names
        expect(try resval(arguments: arguments, in: root), exits: 0)
        for name in names {
            let file = root.pushing(FilePath(bytes: name))
            try #expect(file.value(for: .isPurgeable) == true)
        }
    }

    @Test("errors and help are those of a few operands")
    func errors() throws {
        let root = try directory(with: files(0..<40))
        for words in [["set", "purgeable=true"], ["set", "purgeable=perhaps"], ["get", "none"]] {
            for option in [["--bogus"], ["-Rz"], ["--help"], ["--files0-from"], []] {
                if words[1] == "purgeable=true", option.isEmpty { continue }
                let few = try run(words + ["f0", "f1"] + option, in: root)
                let many = try run(words + files(0..<40) + option, in: root)
                #expect(many.exitCode == few.exitCode)
                #expect(many.text == few.text)
                #expect(many.errorText == few.errorText)
            }
        }
        let unexpected = try run(["keys"] + files(0..<40), in: root)
        #expect(unexpected.exitCode == 64)
        for file in files(0..<40) { #expect(unexpected.errorText.contains("'\(file)'")) }
        #expect(!unexpected.errorText.unicodeScalars.contains("\u{F700}"))
    }

    @Test("40,000 operands are marked in seconds")
    func time() throws {
        let root = try temporaryDirectory()
        try tool("sh", "-c", "cd \"$0\" && seq -f f%.0f 0 39999 | xargs touch", root)
        let start = ContinuousClock.now
        expect(
            try run(["set", "excluded=true"] + files(0..<40_000) + ["--no-dereference"], in: root),
            exits: 0)
        // A parser that looks at all of them for each takes minutes.
        #expect(ContinuousClock.now - start < .seconds(60))
        try #expect(root.appending("f39999").value(for: .isExcludedFromBackup) == true)
        let found = try run(["find", "--excluded", "."], in: root)
        #expect(found.text.split(separator: "\n").count == 40_000)
    }
}
