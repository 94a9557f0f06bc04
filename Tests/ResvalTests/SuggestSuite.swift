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
        var command = Command(.built("resval"), arguments: arguments)
        command.workingDirectory = root
        command.environment = ["HOME": root.appending("home").string]
        return try command.run()
    }
}
