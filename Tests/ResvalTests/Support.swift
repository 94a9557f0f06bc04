import SystemPackage
import TestSupport
import Testing

/// Runs `resval` in a directory.
func resval(
    _ arguments: any CommandArgument..., in directory: FilePath, input: [UInt8] = [],
    user: UInt32? = nil, environment: [String: String?] = [:]
) throws -> CommandResult {
    try resval(
        arguments: arguments, in: directory, input: input, user: user, environment: environment)
}

/// Runs `resval` in a directory.
func resval(
    arguments: [any CommandArgument], in directory: FilePath, input: [UInt8] = [],
    user: UInt32? = nil, environment: [String: String?] = [:]
) throws -> CommandResult {
    try Command(
        .built("resval"), arguments: arguments, in: directory, environment: environment,
        input: input, user: user
    ).run()
}

/// A list as `--files0-from` takes it.
func nulEnded(_ paths: [[UInt8]]) -> [UInt8] { paths.flatMap { $0 + [0] } }
