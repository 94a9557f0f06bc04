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
            "The first digits of a snapshot's ID, or latest: the newest one that "
                + "resval-backup made on this machine.",
            valueName: "snapshot"),
        transform: SnapshotChoice.init(argument:))
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
            let snapshot = try await engine.snapshot(snapshot)
            if excluded {
                var printer = try await engine.readRecord(
                    of: snapshot, with: ExclusionPrinter(form))
                printer.finish()
            } else if items {
                var printer = try await engine.readEntries(
                    of: snapshot.identifier, with: CountedEntries(EntryPrinter(form), engine))
                printer.handler.finish()
            } else {
                try await SnapshotFacts(snapshot, engine).print(asJSON: form == .json)
            }
        }
    }
}

/// Prints the excluded items.
private struct ExclusionPrinter: RecordHandler {
    private let form: RecordOptions.Form
    private var printer = RecordPrinter()

    init(_ form: RecordOptions.Form) { self.form = form }

    mutating func receive(_ line: RecordLine) {
        guard case .excluded(let item) = line else { return }
        printer.print { buffer in
            switch form {
            case .json:
                var line = JSONLine.output()
                line.add(path: item.path)
                line.add("isDirectory", item.isDirectory)
                line.add("reason", item.reason)
                line.add("sentence", item.sentence)
                line.end(in: &buffer)
            case .lines:
                buffer.append(name: item.path)
                buffer.append(text: ": ")
                buffer.append(name: Array(item.sentence.utf8))
                buffer.append("\n")
            case .nulEnded: buffer.append(bytes: item.path + [0])
            }
        }
    }

    mutating func finish() { printer.flush() }
}

/// Prints the entries of a snapshot.
private struct EntryPrinter: SnapshotEntryHandler {
    private let form: RecordOptions.Form
    private var printer = RecordPrinter()

    init(_ form: RecordOptions.Form) { self.form = form }

    mutating func receive(_ entry: SnapshotEntry) {
        printer.print { buffer in
            switch form {
            case .json:
                var line = JSONLine.output()
                line.add(path: entry.path)
                line.add("kind", entry.kind.name)
                if entry.kind == .regularFile { line.add("size", entry.size) }
                line.add("modified", entry.modified)
                line.add("permissions", String(entry.permissions, radix: 8))
                line.end(in: &buffer)
            case .lines:
                buffer.append(name: entry.path)
                buffer.append("\n")
            case .nulEnded: buffer.append(bytes: entry.path + [0])
            }
        }
    }

    mutating func finish() { printer.flush() }
}

/// Collects records that arrive one by one, and prints them in batches.
struct RecordPrinter: Sendable {
    private var pending: [UInt8] = []

    /// Prints a record that `body` writes.
    mutating func print(_ body: (inout OutputBuffer) -> Void) {
        var buffer = OutputBuffer()
        body(&buffer)
        pending += buffer.bytes
        if pending.count > 32768 { flush() }
    }

    /// Prints the records that are still pending.
    mutating func flush() {
        StandardOutput.shared.write(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
