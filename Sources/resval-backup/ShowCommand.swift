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
            JSON FIELDS
            \(JSONFields.version)
              with neither --items nor --excluded:
                snapshot: string (the full ID)
                time: time
                hostName: string
                userName: string
                tags: strings
                isComplete: boolean
                  isPinned: boolean (forget never removes it)
                isFromFuture: boolean
                evictedItems: number
                kept[].path: string or null
                kept[].pathBase64: string, optional
                kept[].size: number
                kept[].sha256: string or null
                items: number or null (null without a record)
                bytes: number or null
                excludedItems: number or null
                sources[].path: string or null
                sources[].pathBase64: string, optional
                sources[].filesystem: string or null
                sources[].isEmpty: boolean or null
                holds[].path: string or null (what the snapshot lacks; null for the clock)
                holds[].pathBase64: string, optional
                holds[].kind: string (own, other, clock)
                holds[].since: time
                holds[].until: time or null (null: until it is accepted)
                holds[].snapshot: string or null (the full ID)
              with --items:
                path: string or null (null when it is not UTF-8)
                pathBase64: string, optional (the bytes when path is null)
                kind: string
                size: number, optional (bytes of a regular file)
                modified: time
                permissions: string (octal)
              with --excluded:
                path: string or null
                pathBase64: string, optional
                isDirectory: boolean
                reason: string
                sentence: string
            \(JSONFields.progress)

            EXAMPLES
              resval-backup show latest               facts of the newest snapshot
              resval-backup show latest --excluded    what was excluded, and why
              resval-backup show 1a2b3c4d --items     everything in it
            """)

    @Argument(
        help: ArgumentHelp(
            "The first digits of a snapshot's ID, or latest: the newest one that "
                + "resval-backup made on this machine.",
            valueName: "snapshot"))
    var snapshot: String

    @Flag(help: "Show what was excluded, and why. With --null the paths only.")
    var excluded = false

    @Flag(help: "Show every item in the snapshot. With --null the paths only.")
    var items = false

    @OptionGroup var records: RecordOptions
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        _ = try SnapshotChoice(argument: snapshot)
        guard !(excluded && items) else {
            throw ValidationError("give --excluded or --items, not both")
        }
        guard excluded || items || !records.endsWithNUL else {
            throw ValidationError("--null needs --excluded or --items")
        }
    }

    func run() async throws {
        let choice = try SnapshotChoice(argument: snapshot)
        let display = progress.begin("reading the snapshot")
        defer { display.end() }
        try await running { [repository, excluded, items, form = records.form] in
            let engine = try repository.engine(showing: display)
            let snapshot = try await engine.snapshot(choice)
            if excluded {
                let record = try await engine.record(of: snapshot)
                print(record.exclusions, as: form)
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

private func print(_ exclusions: [RecordedExclusion], as form: RecordOptions.Form) {
    var printer = RecordPrinter()
    for item in exclusions {
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
    printer.flush()
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
