import ArgumentParser
import Backups
import CommandSupport
import SystemCalls

/// `resval-backup diff`.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show how two snapshots differ.",
        discussion: """
            Each path has a word in front: added, deleted, changed, newly-excluded (the second \
            snapshot excludes what the first contains) or no-longer-excluded. Both snapshots must \
            be of this repository.

            EXAMPLES
              resval-backup diff 1a2b3c4d latest
              resval-backup diff 1a2b3c4d latest --json
            """)

    @Argument(
        help: ArgumentHelp("The first snapshot.", valueName: "before"),
        transform: SnapshotChoice.init(argument:))
    var before: SnapshotChoice

    @Argument(
        help: ArgumentHelp("The second snapshot.", valueName: "after"),
        transform: SnapshotChoice.init(argument:))
    var after: SnapshotChoice

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions

    func run() async throws {
        let output = DifferenceOutput(isJSON: json)
        try await repository.working("reading the snapshots") { [before, after] engine in
            let before = try await engine.snapshot(before)
            let after = try await engine.snapshot(after)
            for snapshot in [before, after] where snapshot.set == nil {
                Messages.warn(
                    "snapshot \(snapshot.shortIdentifier) does not record what it excludes")
            }
            try await engine.compare(before, with: after) { output.write($0) }
        }
        output.finish()
    }
}

/// Prints differences, and counts them for the total in text output.
private final class DifferenceOutput: Sendable {
    private struct State {
        var printer = RecordPrinter()
        var counts: [SnapshotDifference.Kind: Int] = [:]
    }

    private let isJSON: Bool
    private let state = Monitor(State())

    init(isJSON: Bool) { self.isJSON = isJSON }

    func write(_ difference: SnapshotDifference) {
        state.withLock { state in
            state.counts[difference.kind, default: 0] += 1
            state.printer.print { buffer in
                if isJSON {
                    write(json: difference, to: &buffer)
                } else {
                    write(difference, &buffer)
                }
            }
        }
    }

    func finish() {
        state.withLock { state in
            if !isJSON {
                let counts = SnapshotDifference.Kind.allCases.map { kind in
                    "\(state.counts[kind] ?? 0) \(kind.rawValue)"
                }
                state.printer.print { buffer in
                    buffer.append(text: "total: \(counts.joined(separator: ", "))\n")
                }
            }
            state.printer.flush()
        }
    }

    private func write(_ difference: SnapshotDifference, _ buffer: inout OutputBuffer) {
        buffer.append(text: difference.kind.rawValue)
        buffer.append(" ")
        buffer.append(name: difference.path)
        if let reason = difference.reason {
            buffer.append(": ")
            buffer.append(name: Array(reason.utf8))
        }
        buffer.append("\n")
    }

    private func write(json difference: SnapshotDifference, to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("difference", difference.kind.rawValue)
        line.add(path: difference.path)
        line.add("kind", difference.fileKind.name)
        line.add("sizeBefore", difference.sizeBefore)
        line.add("sizeAfter", difference.sizeAfter)
        line.add("sentence", difference.reason)
        line.end(in: &buffer)
    }
}
