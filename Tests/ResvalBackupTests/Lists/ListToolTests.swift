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
}
