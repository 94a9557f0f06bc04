import ArgumentParser
import Backups
import CommandSupport
import SystemCalls

/// `resval-backup show`.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what a snapshot contains, and what was excluded and why.",
        discussion: """
            The fields of --json are in resval-json(5).

            EXAMPLES
              resval-backup show latest               facts of the newest snapshot
              resval-backup show latest --excluded    what was excluded, and why
              resval-backup show 1a2b3c4d --items     everything in it
            """)

    @Argument(
        help: ArgumentHelp(
            "The first four or more digits of a snapshot's ID, or latest: the newest one that "
                + "resval-backup made on this machine.",
            valueName: "snapshot"))
    var snapshot: SnapshotChoice

    @Flag(help: "Show what was excluded, and why. With --null the paths only.")
    var excluded = false

    @Flag(help: "Show every item in the snapshot. With --null the paths only.")
    var items = false

    @OptionGroup var records: RecordOptions
    @OptionGroup var repository: RepositoryOptions

    func validate() throws {
        guard !(excluded && items) else {
            throw ValidationError("give --excluded or --items, not both")
        }
        guard excluded || items || !records.endsWithNUL else {
            throw ValidationError("--null needs --excluded or --items")
        }
    }

    func run() async throws {
        try await repository.working("reading the snapshot") {
            [snapshot, excluded, items, form = records.form] engine in
            let list = try await engine.list()
            let snapshot = try engine.snapshot(snapshot, among: list)
            if excluded {
                let record = try await engine.record(of: snapshot)
                print(record.exclusions, with: ItemPrinter(form))
            } else if items {
                var items = try await engine.readEntries(
                    of: snapshot.identifier, with: EntryPrinter(printer: ItemPrinter(form)))
                items.printer.flush()
            } else {
                try await SnapshotFacts(snapshot, among: list, engine)
                    .print(asJSON: form == .json)
            }
        }
    }
}

extension SnapshotChoice: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

private func print(_ exclusions: [RecordedExclusion], with printer: ItemPrinter) {
    var printer = printer
    for item in exclusions {
        printer.print(item.path, item.sentence) { line in
            line.add(path: item.path)
            line.add("isDirectory", item.isDirectory)
            line.add("reason", item.reason)
            line.add("sentence", item.sentence)
        }
    }
    printer.flush()
}

/// Prints the entries of a snapshot.
private struct EntryPrinter: SnapshotEntryHandler {
    var printer: ItemPrinter

    mutating func receive(_ entry: SnapshotEntry) {
        printer.print(entry.path) { line in
            line.add(path: entry.path)
            line.add("kind", entry.kind.name)
            if entry.kind == .regularFile { line.add("size", entry.size) }
            line.add("modified", entry.modified)
            line.add("permissions", String(entry.permissions, radix: 8))
        }
    }
}

/// Prints items that arrive one by one, in batches.
struct ItemPrinter: Sendable {
    private let form: RecordOptions.Form
    private var pending: [UInt8] = []

    init(_ form: RecordOptions.Form) { self.form = form }

    /// Prints an item.
    ///
    /// - Parameters:
    ///   - word: what stands before the path in a line.
    ///   - sentence: what stands behind it.
    ///   - addFields: adds the fields of a JSON object.
    mutating func print(
        word: String? = nil, _ path: [UInt8], _ sentence: String? = nil,
        addFields: (inout JSONLine) -> Void
    ) {
        var buffer = OutputBuffer()
        switch form {
        case .json:
            var line = JSONLine.output()
            addFields(&line)
            buffer.append(bytes: line.ended())
        case .lines:
            if let word { buffer.append(text: "\(word) ") }
            buffer.append(name: path)
            if let sentence {
                buffer.append(": ")
                buffer.append(name: Array(sentence.utf8))
            }
            buffer.append("\n")
        case .nulEnded: buffer.append(bytes: path + [0])
        }
        pending += buffer.bytes
        if pending.count > 32768 { flush() }
    }

    /// Prints the items that are still pending.
    mutating func flush() {
        StandardOutput.shared.write(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
