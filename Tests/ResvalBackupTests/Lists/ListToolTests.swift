import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Lists and the tools that read them", .serialized)
struct ListToolTests {
    @Test(
        "a tool stores by its recipe exactly what the plan says, with all attributes",
        arguments: ListTool.all)
    func hostileNames(tool: ListTool) throws {
        try withList(for: tool, of: HostileTree.tree { tool.takes($0) }) { fixture in
            let result = try fixture.backUp()
            #expect(result.exitCode == 0, "\(result)")
            let differences = try fixture.differences()
            #expect(differences == [])
            let restored = try pathsBelow(fixture.target.appending(fixture.source.components))
            for name in HostileNames.all where tool.takes(name) {
                #expect(restored.contains(Array("/stored/".utf8) + name.bytes))
                #expect(!restored.contains(Array("/left out/".utf8) + name.bytes))
            }
        }
    }

    @Test(
        "no tool copies an excluded item of the directory that names are relative to",
        arguments: ListTool.all)
    func relativeToSource(tool: ListTool) throws {
        let tree = Tree {
            File("stored", "1")
            File("left out", "1").excluded()
            Directory("cache") { File("inside", "1") }.excluded()
            Directory("empty")
        }
        try withList(for: tool, of: tree) { fixture in
            let result = try fixture.backUp(relativeTo: fixture.source)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try fixture.differences(relativeTo: fixture.source) == [])
        }
    }

    @Test(
        "SOURCEs with hostile names, and the directory above them, are restored as they were",
        arguments: ListTool.all)
    func hostileSources(tool: ListTool) throws {
        let names = HostileNames.all.filter { tool.takes($0) }
        let tree = Tree {
            for name in names {
                Directory(name) {
                    File("stored"); File("left out").excluded()
                }
            }
        }
        try withList(for: tool, of: tree) { fixture in
            try TestSupport.tool("chmod", "700", fixture.source)
            let result = try fixture.backUp(names.map { fixture.source.appending($0) })
            #expect(result.exitCode == 0, "\(result)")
            #expect(try fixture.differences() == [])
        }
    }

    @Test("borg's recipe stores nothing when a name contains a carriage return")
    func carriageReturn() throws {
        let tree = Tree {
            File("carriage\rreturn")
            File("carriage\nreturn").excluded()
        }
        try withList(for: .borg, of: tree) { fixture in
            let result = try fixture.backUp()
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.output.isEmpty && result.errorOutput.isEmpty)
        }
    }
}
