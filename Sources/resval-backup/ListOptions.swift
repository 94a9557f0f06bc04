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
            "Write the list to this file, which is replaced once the list is whole; a second list "
                + "goes to FILE.excludes. Without it, or with -, to standard output.",
            valueName: "file"))
    var output: PathArgument?

    @Flag(
        inversion: .prefixedNo,
        help: "Write no list when the tool cannot be told of every item.")
    var strict = true

    @Flag(help: "List protected items for tools that store what anybody can read, too.")
    var allowPlaintext = false

    func validate() throws {
        guard let format else {
            guard output == nil, strict, !allowPlaintext else {
                throw ValidationError(
                    "--output, --no-strict and --allow-plaintext go with --format.")
            }
            return
        }
        guard ListFormats.named(format) != nil else {
            let known = ListFormats.all.map(\.name).joined(separator: ", ")
            throw ValidationError("There is no format '\(format)'. Known are: \(known).")
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
