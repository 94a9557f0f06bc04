import ArgumentParser
import BackupPlanning
import CommandSupport
import SystemPackage

/// The tool that a list is made for, and what to do with items that the tool cannot represent.
struct ListOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the list that a backup tool takes: "
                + ListFormats.all.map(\.name).joined(separator: ", ") + ".",
            valueName: "tool"),
        completion: .list(ListFormats.all.map(\.name)))
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Write the list to this file, which is replaced once the list is complete; a second "
                + "list goes to FILE.excludes. Without it, or with -, to standard output.",
            valueName: "file"))
    var output: PathArgument?

    @Flag(
        inversion: .prefixedNo,
        help: "Write no list when the tool cannot represent every item.")
    var strict = true

    @Flag(help: "List items with a protection class also for tools that store plaintext.")
    var allowPlaintext = false

    func validate() throws {
        guard let format else {
            guard output == nil, strict, !allowPlaintext else {
                throw ValidationError(
                    "--output, --no-strict and --allow-plaintext need --format")
            }
            return
        }
        guard ListFormats.named(format) != nil else {
            let known = ListFormats.all.map(\.name).joined(separator: ", ")
            throw ValidationError("unknown format '\(format)' (valid: \(known))")
        }
    }

    /// The format; nil when no list was requested.
    var chosen: (any ListFormat)? { format.flatMap { ListFormats.named($0) } }

    /// The file for the list; nil for standard output.
    var file: FilePath? {
        guard let output, !output.isDash else { return nil }
        return output.path
    }
}
