import SystemPackage
import TestSupport
import Testing

/// A suite that runs `resval suggest`.
protocol SuggestSuite {}

extension SuggestSuite {
    /// Runs `resval` beside `src`, with a home there.
    func run(
        _ arguments: any CommandArgument..., in root: FilePath
    ) throws -> CommandResult {
        try resval(
            arguments: arguments, in: root,
            environment: ["HOME": root.appending("home").string])
    }

    /// The only journal of a run.
    func journal(in root: FilePath) throws -> FilePath {
        let directory = root.appending("home/.local/state/resval")
        return try directory.appending(tool("ls", directory))
    }
}
