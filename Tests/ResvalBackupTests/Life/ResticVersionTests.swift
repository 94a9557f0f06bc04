import SystemPackage
import TestSupport
import Testing

@Suite("Which restic runs", .cleansUp)
struct ResticVersionTests {
    /// A restic that names a version, and leaves a file behind if it is asked for anything else.
    private func command(
        _ backup: BackupFixture, _ answer: String, _ arguments: [any CommandArgument]
    ) throws -> Command {
        try backup.with(
            "restic",
            """
            case " $* " in
                *" version "*) printf '\(answer)' ;;
                *) touch '\(backup.base)/ran'; exit 1 ;;
            esac
            """, backup.command(arguments))
    }

    @Test("an older restic is refused by every command, before it is asked for anything else")
    func tooOld() throws {
        let backup = try backup { File("file", evictableContent) }
        let commands: [[any CommandArgument]] = [
            ["init"], ["create", backup.source], ["snapshots"], ["show", "latest"],
            ["diff", "latest", "latest"],
            ["restore", "--snapshot", "latest", "--target", backup.target],
            ["verify"], ["forget", "--keep-last", "1"], ["prune"], ["accept"],
            ["evict", backup("file")],
        ]
        for arguments in commands {
            try command(
                backup, "restic 0.17.3 compiled with go1.23 on linux/amd64\\n", arguments
            ).run(
                exits: 1,
                says: "\(backup.base)/programs/restic: restic 0.17.3 is too old "
                    + "(install restic 0.18 or newer: ")
        }
        try #expect(!tool("ls", backup.base).contains("ran"))
    }

    @Test(
        "a restic that does not name a version as restic does is refused",
        arguments: [
            "", "restic\\n", "restic 0.18.1-dev (compiled manually) compiled with go1.24\\n",
            "restic 1 compiled with go1.24\\n", "rustic 0.18.0 compiled with go1.24\\n",
            "restic 0.18.x compiled with go1.24\\n", "restic 0.18.0.1 compiled with go1.24\\n",
        ])
    func unknown(answer: String) throws {
        let backup = try backup {}
        try command(backup, answer, ["snapshots"]).run(
            exits: 1, says: "/restic: does not name its version as restic does (install")
        try #expect(!tool("ls", backup.base).contains("ran"))
    }

    @Test("no restic of the working directory is started")
    func relative() throws {
        let backup = try backup {}
        var command = try command(backup, "", ["snapshots"])
        let path = try #require(command.environment["PATH"] ?? nil)
        let rest = path.split(separator: ":").dropFirst().joined(separator: ":")
        command.environment["PATH"] = ".:programs::\(rest)"
        for directory in [backup.base, backup.base.appending("programs")] {
            command.workingDirectory = directory
            try command.runSuccessfully()
        }
    }

    @Test("the environment changes neither the host nor the repository of a snapshot")
    func environment() throws {
        let backup = try backup { File("file", "text") }
        for arguments: [any CommandArgument] in [["create", backup.source], ["snapshots"]] {
            try backup.command(arguments).setting([
                "RESTIC_HOST": "elsewhere", "RESTIC_REPOSITORY_FILE": "/nowhere",
                "RESTIC_FROM_REPOSITORY": "/nowhere", "RESTIC_FEATURES": "unknown=true",
            ]).runSuccessfully()
        }
        #expect(try !backup.restic("snapshots", "--json").contains("elsewhere"))
    }
}
