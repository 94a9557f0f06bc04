import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import SystemCalls
import SystemPackage

/// The list of a plan's stored items, for other backup tools.
struct ListOptions: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case nul
    }

    @Option(
        help: ArgumentHelp(
            "Write the paths of what is stored, each followed by a NUL: nul is the only format.",
            valueName: "format"))
    var format: Format?

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
        guard format != nil || (output == nil && relativeTo == nil && !allowPlaintext) else {
            throw ValidationError("--output, --relative-to and --allow-plaintext need --format")
        }
    }

    /// Makes the list and writes it.
    ///
    /// - Returns: whether everything that should be stored is in it.
    func write(
        _ planner: BackupPlanner, for sources: [FilePath], _ placeholders: MetPlaceholders
    ) async throws -> Bool {
        var planner = planner
        planner.storesPlaintext = !allowPlaintext
        let list = try await placeholders.settle(\NulList.plan) { [planner] in
            try planner.makeList(
                for: sources, relativeTo: relativeTo?.path, spillingTo: temporaryDirectory)
        }
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

    /// The directory for paths that do not fit in memory: the list's own, which needs room for it anyway.
    private var temporaryDirectory: FilePath {
        if let file {
            let parent = file.removingLastComponent()
            return parent.isEmpty ? "." : parent
        }
        return environmentValue("TMPDIR").map { FilePath(bytes: $0) } ?? "/var/tmp"
    }
}
