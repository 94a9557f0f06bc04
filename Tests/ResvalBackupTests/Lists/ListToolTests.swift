import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Lists and the tools that read them", .serialized, .cleansUp)
struct ListToolTests {
    @Test(
        "a tool stores by its recipe exactly what the plan says, with all attributes",
        arguments: ListTool.all)
    func hostileNames(tool: ListTool) throws {
        let fixture = try listFixture(for: tool, of: HostileTree.tree { tool.takes($0) })
        try fixture.backUp().expect(exits: 0)
        let differences = try fixture.differences()
        #expect(differences == [])
        let restored = try pathsBelow(fixture.target.appending(fixture.source.components))
        for name in HostileNames.all where tool.takes(name) {
            #expect(restored.contains(Array("/stored/".utf8) + name.bytes))
            #expect(!restored.contains(Array("/left out/".utf8) + name.bytes))
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
        let fixture = try listFixture(for: tool, of: tree)
        try fixture.backUp(relativeTo: fixture.source).expect(exits: 0)
        #expect(try fixture.differences(relativeTo: fixture.source) == [])
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
        let fixture = try listFixture(for: tool, of: tree)
        try TestSupport.tool("chmod", "700", fixture.source)
        try fixture.backUp(names.map { fixture.source.appending($0) }).expect(exits: 0)
        #expect(try fixture.differences() == [])
    }

    @Test("borg's recipe stores nothing when a name contains a carriage return")
    func carriageReturn() throws {
        let tree = Tree {
            File("carriage\rreturn")
            File("carriage\nreturn").excluded()
        }
        let fixture = try listFixture(for: .borg, of: tree)
        let result = try fixture.backUp()
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.output.isEmpty && result.errorOutput.isEmpty)
    }
}

/// A real tool that makes a backup by a list, with the recipes of the page on lists.
struct ListTool: Sendable {
    /// The heading of its recipes.
    let name: String
    /// Variables besides those of the recipes; `BASE` stands for the test's directory.
    var environment: [String: String] = [:]
    /// A script that runs first.
    var preparation = ":"
    /// Whether it can be given a carriage return.
    var takesCarriageReturns = true

    static let all: [ListTool] = [borg, tar, bsdtar, rsync]

    static let borg = ListTool(
        name: "borg",
        environment: [
            "BORG_REPO": "BASE/repository", "BORG_BASE_DIR": "BASE/borg",
            "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
        ],
        preparation: "borg init --encryption none", takesCarriageReturns: false)
    static let tar = ListTool(name: "tar")
    static let bsdtar = ListTool(name: "bsdtar")
    static let rsync = ListTool(name: "rsync")

    /// Whether it can be given a name.
    func takes(_ name: FileName) -> Bool {
        takesCarriageReturns || !name.bytes.contains(UInt8(ascii: "\r"))
    }
}

extension ListTool: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// A tree in a directory of its own, and a tool that backs it up by our list.
struct ListFixture {
    let tool: ListTool
    /// The directory that contains everything.
    let base: FilePath
    /// The directory to back up.
    var source: FilePath { base.appending("source") }
    /// The directory to which the backup is restored.
    var target: FilePath { base.appending("out") }

    /// Makes a list and a backup by it, and restores the backup, all as the page says.
    ///
    /// - Parameters:
    ///   - sources: the SOURCEs; nil for the source.
    ///   - top: the directory that names are relative to.
    /// - Returns: how the tool ended when it made the backup.
    func backUp(
        _ sources: [FilePath]? = nil, relativeTo top: FilePath = "/"
    ) throws -> CommandResult {
        let list = try recipe(under: "Making the list")
            .replacing(" ~ ", with: #" --no-locations --markers native,cachedir "$@" "#)
            .replacing(" / ", with: #" "$TOP" "#)
        let words = sources ?? [source]
        try bash("\(tool.preparation)\n\(list)", words, top).runSuccessfully()
        let backup = try recipe(under: tool.name)
            .replacing("=/ ", with: #"="$TOP" "#).replacing(" / ", with: #" "$TOP" "#)
        let result = try bash(backup, [], top).run()
        if result.exitCode == 0 {
            try bash(try recipe(under: tool.name, 1), [], top).runSuccessfully()
        }
        return result
    }

    /// How the restored items differ from those of the source that the plan stores.
    ///
    /// - Parameter top: the directory that names are relative to, which is not compared itself.
    func differences(relativeTo top: FilePath = "/") throws -> [String] {
        let records = try Command(
            .built("resval-backup"), "plan", "--format", "nul", "--no-locations", "--markers",
            "native,cachedir", source
        ).run().records
        let paths = Set(records)
        var planned = try TreeListing(of: source)
        planned.remove { !paths.contains(source.bytes + $0) || top == source && $0.isEmpty }
        var restored = try TreeListing(
            of: top == source ? target : target.appending(source.components))
        restored.remove { top == source && $0.isEmpty }
        return planned.differences(from: restored)
    }

    /// Returns a code block of a section of the page; nothing when there are fewer.
    private func recipe(under heading: String, _ number: Int = 0) throws -> String {
        let page = String(decoding: try contentsOfFile(Self.page), as: UTF8.self)
        let section = try #require(
            page.split(separator: "\n### ").first { $0.hasPrefix("\(heading)\n") })
        let blocks = section.split(separator: "```\n", omittingEmptySubsequences: false)
        return blocks.count > 2 * number + 1 ? String(blocks[2 * number + 1]) : ":"
    }

    private func bash(_ script: String, _ words: [FilePath], _ top: FilePath) -> Command {
        let script = "PATH=$PROGRAMS:$PATH\n" + script
        let arguments: [any CommandArgument] = ["-c", script, "bash"]
        var command = Command(
            "/bin/bash", arguments: arguments + words.map { $0 as any CommandArgument })
        command.workingDirectory = base
        command.environment = tool.environment.mapValues { $0.replacing("BASE", with: "\(base)") }
        // Where bsdtar composes characters, unless it is told not to.
        command.environment["LC_ALL"] = "C.UTF-8"
        let variables = [
            "PROGRAMS": FilePath.built("resval-backup").removingLastComponent(), "TOP": top,
            "LIST": base.appending("list"), "ARCHIVE": base.appending("archive"),
            "DESTINATION": target, "TARGET": target,
        ]
        for (name, path) in variables { command.environment[name] = path.string }
        return command
    }

    private static let page =
        packageRoot
        .pushing("Sources/ResourceValues/ResourceValues.docc/BackupTools.md")
}

/// Makes a source with the contents of a tree for a tool; skips the test where there is no tool.
func listFixture(for tool: ListTool, of tree: Tree) throws -> ListFixture {
    try require(.tool(tool.name))
    let layout = Tree {
        Directory("source"); Directory("out")
    }
    let fixture = ListFixture(tool: tool, base: try temporaryDirectory(containing: layout))
    try tree.create(in: fixture.source)
    return fixture
}

/// The paths in a directory, from it on down, each from there.
func pathsBelow(_ root: FilePath) throws -> Set<[UInt8]> {
    Set(try TreeListing(of: root).items.keys)
}
