import SystemPackage
import TestSupport
import Testing

/// Runs `resval` in a directory.
func resval(
    _ arguments: any CommandArgument..., in directory: FilePath, input: [UInt8] = [],
    user: UInt32? = nil, environment: [String: String?] = [:]
) throws -> CommandResult {
    return try Command(
        .built("resval"), arguments: arguments, in: directory, environment: environment,
        input: input, user: user
    ).run()
}

/// Compares everything a command did.
func expect(
    _ result: CommandResult, exits code: Int32, prints output: String = "",
    complains errors: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(result.exitCode == code, sourceLocation: sourceLocation)
    #expect(result.text == output, sourceLocation: sourceLocation)
    #expect(result.errorText == errors, sourceLocation: sourceLocation)
}

/// A list as `--files0-from` takes it.
func nulEnded(_ paths: [[UInt8]]) -> [UInt8] { paths.flatMap { $0 + [0] } }
