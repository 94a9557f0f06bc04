import SystemPackage
import TestSupport
import Testing

/// A suite that installs this build, as an ordinary user.
protocol InstallSuite {}

extension InstallSuite {
    static var repository: FilePath {
        FilePath(#filePath).removingLastComponent().removingLastComponent()
            .removingLastComponent().removingLastComponent()
    }

    /// Runs the script with the executables of this build, in a home of its own, as an ordinary user.
    @discardableResult
    func install(
        _ root: FilePath, _ arguments: String..., exits code: Int32 = 0
    ) throws -> CommandResult {
        try run(root, arguments, ["HOME": root.appending("home").string], exits: code)
    }

    @discardableResult
    func run(
        _ root: FilePath, _ arguments: [String], _ environment: [String: String?],
        exits code: Int32 = 0
    ) throws -> CommandResult {
        // Named to the shell, since the script looks beside itself.
        var command = Command(
            "/bin/bash",
            arguments: [
                "-c", "umask 077; exec \"$0\" \"$@\"", root.appending("scripts/install").string,
            ]
                + arguments + [
                    "--executables", root.appending("programs").string,
                    "--manuals", root.appending("pages").string,
                ])
        command.environment = environment
        command.workingDirectory = root
        command.user = 65534
        return try command.run(exits: code)
    }

    func withHome(_ body: (FilePath) throws -> Void) throws {
        try require(.root)
        let tree = Tree {
            Directory("home")
            Directory("pages") {
                File("resval.1", ".Dd today\n")
                File("resval-get.1", ".Dd today\n")
            }
            Directory("package")
            Directory("programs")
        }
        try withTemporaryDirectory(containing: tree, isShared: true) { root in
            // Copies, since an ordinary user need not be able to enter the directory of the package.
            try tool("cp", "-R", Self.repository.appending("scripts"), root)
            for program in ["resval", "resval-backup", "resval-purge"] {
                try tool("cp", FilePath.built(program), root.appending("programs"))
            }
            try tool("chown", "-R", "65534:65534", root)
            try body(root)
        }
    }

    func files(below root: FilePath) throws -> [String] {
        try tool("find", root, "-type", "f", "-printf", "%P\n").split(separator: "\n")
            .map(String.init).sorted()
    }
}
