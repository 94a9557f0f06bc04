import ArgumentParser
import Backups
import CommandSupport
import SystemCalls

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

    @Argument(help: ArgumentHelp("The first snapshot.", valueName: "before"))
    var before: SnapshotChoice

    @Argument(help: ArgumentHelp("The second snapshot.", valueName: "after"))
    var after: SnapshotChoice

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions

    func run() async throws {
        let output = Monitor(
            (printer: ItemPrinter(json ? .json : .lines), counts: [SnapshotDifference.Kind: Int]()))
        try await repository.working("reading the snapshots") { [before, after] engine in
            let list = try await engine.list()
            let before = try engine.snapshot(before, among: list)
            let after = try engine.snapshot(after, among: list)
            for snapshot in [before, after] where snapshot.set == nil {
                Messages.warn(
                    "snapshot \(snapshot.shortIdentifier) does not record what it excludes")
            }
            try await engine.compare(before, with: after) { difference in
                output.withLock { output in
                    output.counts[difference.kind, default: 0] += 1
                    output.printer.print(difference)
                }
            }
        }
        let counts = output.withLock { output in
            output.printer.flush()
            return SnapshotDifference.Kind.allCases.map { kind in
                "\(output.counts[kind] ?? 0) \(kind.rawValue)"
            }
        }
        if !json { StandardOutput.shared.write("total: \(counts.joined(separator: ", "))\n") }
    }
}

extension ItemPrinter {
    fileprivate mutating func print(_ difference: SnapshotDifference) {
        print(word: difference.kind.rawValue, difference.path, difference.reason) { line in
            line.add("difference", difference.kind.rawValue)
            line.add(path: difference.path)
            line.add("kind", difference.fileKind.rawValue)
            line.add("sizeBefore", difference.sizeBefore)
            line.add("sizeAfter", difference.sizeAfter)
            line.add("sentence", difference.reason)
        }
    }
}
