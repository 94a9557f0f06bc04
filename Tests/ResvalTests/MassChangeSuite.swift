import ResourceValues
import SystemPackage
import TestSupport
import Testing

/// A suite that changes the marks of a tree, with a directory for journals beside it.
protocol MassChangeSuite {}

extension MassChangeSuite {
    var tree: Tree {
        Tree {
            File("tree/excluded").excluded()
            File("tree/plain")
            File("tree/broken")
                .attribute(StoredKey.isExcludedFromBackup.attribute, "per\u{1}haps")
            File("tree/kept").excluded(false).protection(.complete)
        }
    }

    /// Runs `resval` in the tree, with a directory for journals beside it.
    func run(
        _ arguments: any CommandArgument..., in root: FilePath, input: String = ""
    ) throws -> CommandResult {
        // In its home the tree is in no directory for temporary files.
        try resval(
            arguments: arguments, in: root.appending("tree"), input: Array(input.utf8),
            environment: ["HOME": root.string, "XDG_STATE_HOME": root.appending("state").string])
    }

    /// The lines that a command printed, sorted.
    func sorted(_ result: CommandResult) -> [String] {
        result.text.split(separator: "\n").map(String.init).sorted()
    }

    func dump(_ root: FilePath) throws -> String {
        try tool("getfattr", "-Rd", "--absolute-names", root.appending("tree"))
    }

    /// The only journal of a run.
    func journal(in root: FilePath) throws -> FilePath {
        let directory = root.appending("state/resval")
        let names = try tool("ls", directory).split(separator: "\n")
        #expect(names.count == 1)
        return directory.appending(String(try #require(names.first)))
    }
}
