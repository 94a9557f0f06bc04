import CommandSupport
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Lists and the tools that take them", .serialized)
struct ListToolTests {
    @Test(
        "a tool stores by its list exactly what the plan says, name by name",
        arguments: ListTool.all)
    func outcome(tool: ListTool) throws {
        let outcome = try ListOutcome.of(tool)
        #expect(outcome.surprises == [])
        #expect(!outcome.storing.contains(.wrong))
        #expect(!outcome.leavingOut.contains(.wrong))
    }

    @Test("the page of the tools shows what they did with each name")
    func page() throws {
        for tool in ListTool.all { try require(.tool(tool.name)) }
        let outcomes = try ListTool.all.map { try ListOutcome.of($0) }
        let table = ToolTable(tools: ListTool.all, outcomes: outcomes)
        if table.isToBeWritten { try table.write() }
        #expect(try table.written() == table.text, "run scripts/generate-tool-table")
    }

    @Test("restic does the same by two lists, when there are many exclusions")
    func manyExclusions() throws {
        let tree = Tree {
            for name in HostileNames.all { File(name, "stored") }
            Directory("many") {
                for number in 0..<150 {
                    File(FileName(Array("\(number)".utf8)), "left out").excluded()
                }
            }
            Directory("left out") { File("inside") }.excluded()
        }
        try withList(for: .restic, of: tree) { fixture in
            let plan = try fixture.plan()
            #expect(plan.exitCode == 0, "\(plan)")
            #expect(plan.text.contains("--files-from-raw=\(fixture.list) "))
            #expect(plan.text.contains("--exclude-file=\(fixture.list).excludes "))
            let command = Array(plan.output.dropLast())
            let (result, stored) = try fixture.restoredPaths(by: command)
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                try fixture.storedPaths([]).symmetricDifference(stored).map(quotedForMessages) == []
            )
            let words: [any CommandArgument] = [
                "plan", "--format", "restic", "--no-locations", fixture.source,
            ]
            let refused = try Command(.built("resval-backup"), arguments: words).run()
            #expect(refused.exitCode == 64)
            #expect(refused.output.isEmpty)
            #expect(refused.errorText.contains("--output"))
        }
    }

    @Test(
        "a list to standard output is read from there by the printed command",
        arguments: [ListTool.tar, .rsync, .borg, .rclone])
    func standardOutput(tool: ListTool) throws {
        let tree = Tree {
            File("stored", "1")
            File("left out", "1").excluded()
        }
        try withList(for: tool, of: tree) { fixture in
            let program = FilePath.built("resval-backup")
            let words = "'\(program)' plan --format \(tool.name) --no-locations source"
            let plan = try Command(
                program, "plan", "--format", tool.name, "--no-locations", fixture.source
            ).run()
            #expect(plan.exitCode == 0, "\(plan)")
            let line = plan.errorText.split(separator: "\n").first { $0.contains("use the list") }
            let command = try #require(line?.split(separator: "with: ", maxSplits: 1).last)
            let (result, stored) = try fixture.restoredPaths(
                by: Array("\(words) | \(command)".utf8))
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                try fixture.storedPaths([]).symmetricDifference(stored).map(quotedForMessages) == []
            )
        }
    }

    @Test(
        "a SOURCE whose own name is hostile is stored by the printed command",
        arguments: [ListTool.restic, .rclone, .duplicity, .tar])
    func hostileSource(tool: ListTool) throws {
        let names = HostileNames.all.filter { $0 != HostileNames.notUTF8 }
        let tree = Tree {
            for name in names {
                Directory(name) {
                    File("stored"); File("left out").excluded()
                }
            }
        }
        try withList(for: tool, of: tree) { fixture in
            let sources = names.map { fixture.source.appending($0) as any CommandArgument }
            let options: [any CommandArgument] = [
                "plan", "--format", tool.name, "--output", fixture.list, "--no-locations",
            ]
            let plan = try Command(.built("resval-backup"), arguments: options + sources).run()
            #expect(plan.exitCode == 0, "\(plan)")
            let (result, stored) = try fixture.restoredPaths(by: Array(plan.output.dropLast()))
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                try fixture.storedPaths([]).symmetricDifference(stored).map(quotedForMessages) == []
            )
        }
    }

    @Test(
        "any name is stored or left out as it should be, or refused by name, in a UTF-8 locale",
        arguments: ListTool.all, [nil, 1, 2] as [UInt64?])
    func anyName(tool: ListTool, seed: UInt64?) throws {
        var tool = tool
        tool.environment["LC_ALL"] = "C.UTF-8"
        let names = seed.map(randomNames) ?? chosenNames
        let tree = Tree {
            Directory("stored") { for name in names { File(name, "stored") } }
            Directory("left out") { for name in names { File(name, "left out").excluded() } }
            Directory("both") {
                for (number, name) in names.enumerated() {
                    number % 2 == 0 ? File(name, "stored") : File(name, "left out").excluded()
                }
            }
        }
        try withList(for: tool, of: tree) { fixture in
            var plan = try fixture.plan()
            for _ in 0..<5 where plan.exitCode == 1 {
                let refused = ["stored", "left out", "both"].flatMap { directory in
                    names.map {
                        fixture.source.appending(directory).pushing(FilePath(bytes: $0.bytes))
                    }
                }.filter { plan.errorText.contains("\(escaped($0)): cannot be ") }
                try #require(!refused.isEmpty, "\(plan)")
                for path in refused { try removeFile(path) }
                plan = try fixture.plan()
            }
            #expect(plan.exitCode == 0, "\(plan)")
            let (result, stored) = try fixture.restoredPaths(by: Array(plan.output.dropLast()))
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                try fixture.storedPaths([]).symmetricDifference(stored).map(quotedForMessages) == []
            )
        }
    }

    private func escaped(_ path: FilePath) -> String {
        var output: [UInt8] = []
        path.bytes.withUnsafeBufferPointer { NameEscaping.append($0, to: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Names that are alike to people or to tools: composed and decomposed, pictures of control
    /// characters, and what tools put in the place of others.
    private var chosenNames: [FileName] {
        [
            "caf\u{E9}", "cafe\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{D7A3}",
            "\u{1112}\u{1175}\u{11C2}", "\u{958}", "\u{2400}x", "nul\u{2400}", "\u{2401}",
            "\u{240A}",
            "\u{240D}", "\u{2420}", "x\u{2420}", "\u{2421}", "\u{2422}", "\u{FF0E}",
            "\u{FF0E}\u{FF0E}",
            "a\u{FF0F}b", "\u{FF0F}", "\u{FEFF}mark", "a\u{2028}b", "\u{85}", "\u{AD}", "\u{FFFD}",
            "\u{201B}quote", "\u{201B}\u{2400}", "a\u{1}b", "a\u{7F}b", "tail.", "~", "%2F",
            "a%00b",
            "\u{FB01}", "\u{1F600}",
        ].map { FileName(Array($0.utf8)) }
    }

    private func randomNames(_ seed: UInt64) -> [FileName] {
        var numbers = SeededNumbers(seed: seed)
        let texts = [
            ".", " ", "\t", "\r", "\n", "e\u{301}", "\u{E9}", "\u{2400}", "\u{2401}", "\u{2420}",
            "\u{201B}", "\u{FF0F}", "\u{FF0E}", "\u{85}", "\u{2028}", "*", "?", "[", "]", "{", "}",
            "\\",
            "#", ";", "'", "\"", "$", "-", "+", "~", ":", "!", "%", ",", "\u{FEFF}", "a", "B", "^",
            "|",
        ]
        let pieces = texts.map { Array($0.utf8) } + [[0xFF], [0xE9], [0xC3], [0x1B], [0x7F]]
        let names = (0..<60).map { _ in
            (0..<Int.random(in: 1...5, using: &numbers)).flatMap { _ in
                pieces.randomElement(using: &numbers) ?? []
            }
        }
        let reserved = [Array(".".utf8), Array("..".utf8)]
        return Set(names).subtracting(reserved)
            .sorted { $0.lexicographicallyPrecedes($1) }.map { FileName($0) }
    }
}
