import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import SystemCalls
import SystemPackage

/// The list of a plan's stored items, for other backup tools.
struct ListOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the paths of what is stored, each followed by a NUL: nul is the only format.",
            valueName: "format"),
        completion: .list([onlyFormat]))
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Write names relative to this directory, which contains the SOURCEs: each begins with "
                + "./, and the directory itself is not in the list.",
            valueName: "directory"))
    var relativeTo: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Write the list to this file, which is replaced once the list is complete. Without it, "
                + "or with -, to standard output.",
            valueName: "file"))
    var output: PathArgument?

    @Flag(help: "List items with a protection class, too: the tool that reads the list encrypts.")
    var allowPlaintext = false

    func validate() throws {
        guard let format else {
            guard output == nil, relativeTo == nil, !allowPlaintext else {
                throw ValidationError(
                    "--output, --relative-to and --allow-plaintext need --format")
            }
            return
        }
        guard format != onlyFormat else { return }
        throw ValidationError("unknown format '\(format)' (\(substitute(for: format)))")
    }

    /// Whether a list was requested.
    var isRequested: Bool { format != nil }

    /// Makes the list and writes it.
    ///
    /// - Returns: whether everything that should be stored is in it.
    func write(_ planner: BackupPlanner, for sources: [FilePath]) throws -> Bool {
        var planner = planner
        planner.storesPlaintext = !allowPlaintext
        var list = try planner.makeList(
            for: sources, relativeTo: relativeTo?.path)
        // Another tool has the content of none.
        list.plan.noteMissing { _ in false }
        report(list.plan.notices)
        for item in list.plan.exclusions where item.reason.isShortfall {
            Messages.write(about: item.path, "is not in the list: \(item.reason.sentence)")
        }
        if let file {
            var output = try OutputFile(at: file)
            try forEachPiece(of: list) { try output.write($0) }
            try output.finish()
        } else {
            var buffer = OutputBuffer()
            try forEachPiece(of: list) { piece in
                buffer.append(bytes: piece)
                buffer.flush()
            }
        }
        return !list.plan.isIncomplete
    }

    private func forEachPiece(of list: NulList, _ body: ([UInt8]) throws -> Void) throws {
        try list.forEachPiece { piece in
            if StopRequest.isMade { throw CancellationError() }
            try body(piece)
        }
    }

    /// The file for the list; nil for standard output.
    private var file: FilePath? {
        guard let output, !output.isDash else { return nil }
        return output.path
    }
}

private let onlyFormat = "nul"

/// Returns what to use in place of a format for one tool.
private func substitute(for format: String) -> String {
    switch format {
    case "borg": "use nul: borg create --paths-from-stdin --paths-delimiter '\\0'"
    case "bsdtar": "use nul: bsdtar --create --null --no-recursion --files-from LIST"
    case "rsync": "use nul: rsync --archive --from0 --files-from=LIST"
    case "tar": "use nul: tar --create --null --no-recursion --files-from=LIST"
    case "restic": "use resval-backup create, which runs restic"
    case "duplicity", "kopia", "rclone":
        "\(format) cannot read every name from a list: use resval-backup create, or nul with borg, "
            + "tar, bsdtar or rsync"
    default: "use nul, for borg, tar, bsdtar and rsync"
    }
}
