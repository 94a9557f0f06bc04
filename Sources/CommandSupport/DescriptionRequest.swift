import ArgumentParser
import TextFormats

/// Requests of shells about the program itself, which no help mentions.
///
/// `__complete WORD…` prints completions of the last word; `--generate-completion-script SHELL` prints
/// a script that asks that.
enum DescriptionRequest {
    /// The first argument of a request for completions.
    static let completion = "__complete"

    /// Returns the answer to such a request; nil when the arguments are anything else.
    ///
    /// - Throws: `ValidationError` for a shell that does not exist, and `JSONError` when
    ///   the parser describes commands in an unknown form.
    static func answer(
        _ arguments: [String], about root: any ParsableCommand.Type
    ) throws -> String? {
        guard let first = arguments.first, first.hasPrefix("__") || first.hasPrefix("--g") else {
            return nil
        }
        switch (first, arguments.count) {
        case (completion, 2...):
            return try WordCompletion(Array(arguments.dropFirst()), of: root).lines
        case ("--generate-completion-script", 2):
            guard let shell = Shell(rawValue: arguments[1]) else {
                let shells = Shell.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("unknown shell '\(arguments[1])' (valid: \(shells))")
            }
            return shell.completionScript(for: root._commandName)
        default:
            return nil
        }
    }
}
