import ArgumentParser
import BackupEngines
import BackupPlanning
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage
import TextFormats

/// The list of a plan for another backup tool, with the command that uses it.
struct ListWriting {
    let format: any ListFormat
    let options: ListOptions

    /// Makes the list and writes it.
    ///
    /// - Throws: `ExitCode` 1 when nothing was written because the tool cannot represent every item.
    /// - Returns: whether the tool will store everything it should.
    func run(
        _ planner: BackupPlanner, for sources: [FilePath], _ placeholders: MetPlaceholders
    ) async throws -> Bool {
        var planner = planner
        planner.storesPlaintext = format.storesPlaintext && !options.allowPlaintext
        let planned = try await placeholders.settle(\PlannedList.plan) { [planner] in
            try planner.makeList(format, for: sources, spillingTo: temporaryDirectory)
        }
        report(planned)
        if options.strict && !planned.isExact {
            let count = planned.lostItems.count + planned.list.lostExclusions.count
            Messages.write(
                about: [UInt8]?.none,
                "no list was written: \(format.name) cannot represent \(counted(count, "item")) "
                    + "(rename or exclude what is named, use another tool, or add --no-strict)")
            throw ExitCode(1)
        }
        if let file = options.file {
            try write(planned, to: file)
        } else {
            try writeToStandardOutput(planned)
        }
        return planned.lostItems.isEmpty && !planned.plan.isIncomplete
    }

    private func report(_ planned: PlannedList) {
        resval_backup.report(planned.plan.notices)
        for item in planned.plan.exclusions where item.reason.isShortfall {
            Messages.write(about: item.path, "is not in the list: \(item.reason.sentence)")
        }
        for loss in planned.lostItems {
            Messages.write(about: loss.path, "cannot be stored: \(loss.reason)")
        }
        for loss in planned.list.lostExclusions {
            let sentence = "cannot be excluded: \(loss.reason)"
            if options.strict {
                Messages.write(about: loss.path, sentence)
            } else {
                Messages.warn(about: loss.path.bytes, sentence)
            }
        }
    }

    private func write(_ planned: PlannedList, to path: FilePath) throws {
        var list = try OutputFile(at: path)
        try planned.forEachPiece { piece in
            if StopRequest.isMade { throw CancellationError() }
            try list.write(piece)
        }
        var (listPath, excludesPath) = (list.path, FilePath?.none)
        if let bytes = planned.list.excludes {
            var excludes = try OutputFile(at: path.withSuffix(".excludes"))
            try excludes.write(bytes)
            try excludes.finish()
            excludesPath = try realPath(of: excludes.path)
        }
        try list.finish()
        // The printed command must work from any directory.
        listPath = try realPath(of: listPath)
        let command = command(planned, list: listPath, excludes: excludesPath)
        var buffer = OutputBuffer()
        buffer.append(bytes: command.bytes)
        buffer.append("\n")
        buffer.flush()
        advise(command)
    }

    private func writeToStandardOutput(_ planned: PlannedList) throws {
        guard planned.list.excludes == nil else {
            throw ValidationError(
                "\(format.name) takes two lists for this many exclusions: name a file with --output"
            )
        }
        let command = command(planned, list: "/dev/stdin", excludes: nil)
        Messages.write(
            about: [UInt8]?.none,
            "use the list with: \(String(decoding: command.bytes, as: UTF8.self))")
        advise(command)
        var buffer = OutputBuffer()
        try planned.forEachPiece { piece in
            if StopRequest.isMade { throw CancellationError() }
            buffer.append(bytes: piece)
            buffer.flush()
        }
    }

    private func command(
        _ planned: PlannedList, list: FilePath, excludes: FilePath?
    ) -> ShellCommand {
        format.command(
            for: ListUse(list: list, excludes: excludes, sources: planned.plan.sources))
    }

    private func advise(_ command: ShellCommand) {
        for sentence in command.advice { Messages.write(about: [UInt8]?.none, sentence) }
    }

    /// The directory for paths that do not fit in memory: the list's own, which needs room for it anyway.
    private var temporaryDirectory: FilePath {
        if let file = options.file {
            let parent = file.removingLastComponent()
            return parent.isEmpty ? "." : parent
        }
        return environmentValue("TMPDIR").map { FilePath(bytes: $0) } ?? "/var/tmp"
    }
}

extension FilePath {
    fileprivate func withSuffix(_ suffix: String) -> FilePath {
        FilePath(bytes: bytes + Array(suffix.utf8))
    }
}

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
