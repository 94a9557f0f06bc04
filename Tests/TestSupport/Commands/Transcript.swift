import Glibc
import SystemPackage
import Testing

/// Runs the commands of a transcript, one after the other, and expects all that it shows.
///
///     try expectTranscript(
///         """
///         $ resval get excluded marked missing
///         marked: true
///         ! resval: missing: no such file or directory
///         [2]
///         """, in: root)
///
/// A line behind `$ ` is for `/bin/sh`, which finds the programs of this package by name. What it
/// writes to standard output follows, then what it writes to standard error, each line behind `! `,
/// and its exit code unless that is 0.
package func expectTranscript(
    _ transcript: String, in directory: FilePath, environment: [String: String?] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let programs = FilePath.built("resval").removingLastComponent()
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    var seen: [String] = []
    for line in transcript.split(separator: "\n") where line.hasPrefix("$ ") {
        let result = try Command(
            "/bin/sh", "-c", String(line.dropFirst(2)), in: directory,
            environment: environment.merging(["PATH": "\(programs):\(path)"]) { $1 }
        ).run()
        seen.append(String(line))
        seen += lines(of: result.text)
        seen += lines(of: result.errorText).map { "! " + $0 }
        let end = result.exitCode.map(String.init) ?? "signal"
        if end != "0" { seen.append("[\(end)]") }
    }
    #expect(seen.joined(separator: "\n") == transcript, sourceLocation: sourceLocation)
}

/// The lines of a text, of which the last one may lack its end, which is then shown.
private func lines(of text: String) -> [String] {
    guard !text.isEmpty else { return [] }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() } else { lines[lines.count - 1] += " (no newline)" }
    return lines
}
