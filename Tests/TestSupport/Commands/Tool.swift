import SystemPackage

/// Runs a program of the system that must succeed.
///
/// - Returns: what it wrote to standard output, without line ends behind it.
@discardableResult
package func tool(_ name: String, _ arguments: any CommandArgument...) throws -> String {
    try tool(name, arguments: arguments)
}

/// Runs a shell script that must succeed, with arguments from `$1` on.
@discardableResult
package func shell(_ script: String, _ arguments: any CommandArgument...) throws -> String {
    try tool("sh", arguments: ["-c", script, "sh"] + arguments)
}

/// Runs a program of the system that must succeed.
@discardableResult
package func tool(_ name: String, arguments: [any CommandArgument]) throws -> String {
    guard let path = FilePath.tool(name) else {
        throw CommandFailure(command: name, reason: "not installed")
    }
    return try Command(path, arguments: arguments).runSuccessfully()
}
