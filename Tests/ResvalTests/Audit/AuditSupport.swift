import SystemPackage
import TestSupport
import Testing

/// Runs `resval audit` in a home, without settings of a backup.
func audit(
    _ arguments: any CommandArgument..., in home: FilePath, user: UInt32? = nil,
    environment: [String: String?] = [:]
) throws -> CommandResult {
    try resval(
        arguments: ["audit"] + arguments, in: home, user: user,
        environment: environment.merging(["HOME": home.string]) { $1 })
}

/// Makes a home.
func auditedHome(@TreeBuilder _ items: () -> [any TreeItem]) throws -> FilePath {
    let home = try temporaryDirectory(isShared: true) { Directory("home") }.appending("home")
    // Hard links are declared by paths from the home.
    try Tree(items).create(in: home)
    return home
}

/// The output with HOME for the home's path, and without sizes, which depend on the filesystem.
func auditText(_ result: CommandResult, _ home: FilePath) -> String {
    result.text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        let trimmed = line.drop { $0 == " " }
        guard let end = trimmed.firstRange(of: "B  "), trimmed.first?.isNumber == true else {
            return String(line)
        }
        return String(trimmed[end.upperBound...])
    }.joined(separator: "\n").replacing(home.string, with: "HOME")
}

/// Compares what was found, line by line and without sizes, and the exit code.
func expect(
    _ result: CommandResult, in home: FilePath, finds lines: [String],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let count = lines.count { !$0.hasPrefix(" ") }
    let total = "total: \(count) finding\(count == 1 ? "" : "s")"
    #expect(
        auditText(result, home) == (lines + [total, ""]).joined(separator: "\n"),
        sourceLocation: sourceLocation)
    #expect(result.errorText == "", sourceLocation: sourceLocation)
    #expect(result.exitCode == (count == 0 ? 0 : 1), sourceLocation: sourceLocation)
}
