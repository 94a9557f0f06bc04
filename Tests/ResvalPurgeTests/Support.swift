import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A home in which `resval-purge` is run.
struct PurgeHome {
    let home: FilePath

    /// Runs `resval-purge` in the home.
    func run(
        _ arguments: any CommandArgument..., user: UInt32? = nil,
        environment: [String: String?] = [:]
    ) throws -> CommandResult {
        try run(arguments: arguments, user: user, environment: environment)
    }

    /// Runs `resval-purge`, or another program, in the home.
    func run(
        _ program: FilePath = .built("resval-purge"), arguments: [any CommandArgument],
        user: UInt32? = nil, environment: [String: String?] = [:]
    ) throws -> CommandResult {
        try command(program, arguments: arguments, user: user, environment: environment).run()
    }

    /// Runs a script of `bash` in the home, with `resval-purge` in `$0` and arguments from `$1` on.
    func shell(_ script: String, _ arguments: any CommandArgument...) throws -> CommandResult {
        try run("/bin/bash", arguments: ["-c", script, FilePath.built("resval-purge")] + arguments)
    }

    /// `resval-purge`, or another program, in the home. Small units count by themselves, unless the
    /// arguments say otherwise.
    func command(
        _ program: FilePath = .built("resval-purge"), arguments: [any CommandArgument],
        user: UInt32? = nil, environment: [String: String?] = [:]
    ) -> Command {
        var arguments = arguments
        let words = arguments.map { String(decoding: $0.argumentBytes, as: UTF8.self) }
        if program.lastComponent == "resval-purge", !words.contains("--smallest"),
            !words.contains("--help"), ["plan", "run", "status"].contains(words.first)
        {
            arguments += ["--smallest", "0"]
        }
        var command = Command(program, arguments: arguments)
        command.workingDirectory = home
        command.user = user
        command.environment = ["HOME": home.string]
        command.environment.merge(environment) { $1 }
        return command
    }

    /// The names in the cache `app`, with spaces between them.
    var units: String {
        get throws { try tool("ls", self(".cache/app")).replacing("\n", with: " ") }
    }

    /// The path of something in the home.
    func callAsFunction(_ path: String) -> FilePath { home.appending(path) }
}

/// Makes a home that holds a tree, on a filesystem of its own: what is freed there is measured, and nobody
/// else stores anything.
func measuredHome(@TreeBuilder _ items: () -> [any TreeItem]) throws -> PurgeHome {
    PurgeHome(home: try filesystem(.ext4) { Directory("home", items) }.root.appending("home"))
}

/// Makes a home that holds a tree.
func purgeHome(@TreeBuilder _ items: () -> [any TreeItem]) throws -> PurgeHome {
    PurgeHome(home: try temporaryDirectory(containing: items))
}
