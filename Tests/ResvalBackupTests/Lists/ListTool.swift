import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A real tool that makes a backup by a list, and what brings the backup back to a directory.
struct ListTool: Sendable {
    /// The format's name.
    let name: String
    /// Variables that the printed command needs; `BASE` stands for the test's directory.
    var environment: [String: String?] = [:]
    /// A script that runs first, in the test's directory.
    var preparation = ":"
    /// What is put behind the first word of the printed command.
    var extraOption = ""
    /// A script that brings everything back to the directory `out`.
    let restoration: String
    /// Whether marks come back, too.
    var keepsMarks = true

    static let all: [ListTool] = [restic, borg, tar, bsdtar, rsync, rclone, duplicity]

    static let restic = ListTool(
        name: "restic",
        environment: [
            "RESTIC_REPOSITORY": "BASE/repository", "RESTIC_PASSWORD": repositoryPassword,
            "RESTIC_PASSWORD_FILE": nil, "RESTIC_PASSWORD_COMMAND": nil,
            "RESTIC_CACHE_DIR": "BASE/cache",
        ],
        restoration: "restic --quiet restore latest --target out")

    static let borg = ListTool(
        name: "borg",
        environment: [
            "BORG_REPO": "BASE/repository", "BORG_BASE_DIR": "BASE/borg",
            "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
        ],
        preparation: "borg init --encryption none",
        restoration: "cd out && borg extract ::$(borg list --short)")

    static let tar = ListTool(
        name: "tar", environment: ["ARCHIVE": "BASE/archive.tar"],
        restoration: "tar --extract --xattrs --file archive.tar --directory out")

    static let bsdtar = ListTool(
        name: "bsdtar", environment: ["ARCHIVE": "BASE/archive.tar"],
        restoration: "bsdtar --extract -p --file archive.tar --directory out")

    static let rsync = ListTool(
        name: "rsync", environment: ["DESTINATION": "BASE/out"], restoration: ":")

    static let rclone = ListTool(
        name: "rclone",
        environment: ["DESTINATION": "BASE/out", "RCLONE_CONFIG": "BASE/rclone.conf"],
        preparation: "touch rclone.conf", restoration: ":", keepsMarks: false)

    static let duplicity = ListTool(
        name: "duplicity",
        environment: ["DESTINATION": "file://BASE/repository", "HOME": "BASE"],
        preparation: "mkdir repository",
        // A key server would stay behind as a process.
        extraOption: "--no-encryption",
        restoration: "rmdir out && duplicity restore --no-encryption \"$DESTINATION\" out",
        keepsMarks: false)
}

extension ListTool: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// A tree in a directory of its own, and a tool that backs it up by our list.
struct ListFixture {
    let tool: ListTool
    /// The directory that holds everything.
    let base: FilePath
    /// The directory to back up.
    var source: FilePath { base.appending("source") }
    /// The list.
    var list: FilePath { base.appending("list") }

    /// Writes the list for the tool.
    func plan(_ options: String...) throws -> CommandResult {
        try plan(format: tool.name, options)
    }

    /// The paths of everything stored, as any program would be told of them.
    func storedPaths(_ options: [String]) throws -> Set<[UInt8]> {
        let words: [any CommandArgument] =
            ["plan", "--format", "nul", "--allow-plaintext", "--no-locations"] + options + [source]
        return Set(try Command(.built("resval-backup"), arguments: words).run().records)
    }

    /// Runs the printed command, brings everything back, and gives the paths that came back.
    func restoredPaths(by command: [UInt8]) throws -> (CommandResult, Set<[UInt8]>) {
        if tool.name == "restic" {
            try TestSupport.tool("cp", "-r", try emptyRepository(), base.appending("repository"))
        }
        try bash(Array(tool.preparation.utf8)).runSuccessfully()
        var words = command
        if !tool.extraOption.isEmpty {
            let end = words.firstIndex(of: UInt8(ascii: " ")) ?? words.endIndex
            words.insert(contentsOf: Array(" \(tool.extraOption)".utf8), at: end)
        }
        let result = try bash(words).run()
        try bash(Array(tool.restoration.utf8)).runSuccessfully()
        let top = base.appending("out").appending(source.components)
        let listing = try TreeListing(of: top)
        return (result, Set(listing.items.keys.map { source.bytes + $0 }))
    }

    /// Where an item of the source came back.
    func restored(_ name: FilePath) -> FilePath {
        base.appending("out").appending(source.components).appending(name.components)
    }

    private func plan(format: String, _ options: [String]) throws -> CommandResult {
        let words: [any CommandArgument] =
            ["plan", "--format", format, "--output", list, "--no-locations"] + options + [source]
        return try Command(.built("resval-backup"), arguments: words).run()
    }

    private func bash(_ script: [UInt8]) -> Command {
        let words: [any CommandArgument] = ["-c", script]
        var command = Command("/bin/bash", arguments: words)
        command.workingDirectory = base
        command.environment = tool.environment.mapValues { $0?.replacing("BASE", with: "\(base)") }
        return command
    }
}

/// Calls `body` with a tool and a source that holds a tree; skips the test where there is no tool.
func withList<Result>(
    for tool: ListTool, of tree: Tree, _ body: (ListFixture) throws -> Result
) throws -> Result {
    try require(.tool(tool.name))
    let layout = Tree {
        Directory("source"); Directory("out")
    }
    return try withTemporaryDirectory(containing: layout) { base in
        let fixture = ListFixture(tool: tool, base: base)
        try tree.create(in: fixture.source)
        return try body(fixture)
    }
}

/// The paths in a directory, from it on down, each from there.
func pathsBelow(_ root: FilePath) throws -> Set<[UInt8]> {
    Set(try TreeListing(of: root).items.keys)
}
