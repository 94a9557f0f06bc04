import ArgumentParser
import Backups
import CommandSupport
import SystemCalls

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what a snapshot has, and what it excludes.",
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
                var printer = try await engine.readEntries(
                    of: snapshot.identifier, into: ItemPrinter(form)
                ) { printer, entry in printer.print(entry) }
                printer.flush()
            } else {
                try await SnapshotFacts(snapshot, among: list, engine)
                    .print(asJSON: form == .json)
            }
        }
    }
}

extension SnapshotChoice: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    package static var defaultCompletionKind: CompletionKind { .known }
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

extension ItemPrinter {
    fileprivate mutating func print(_ entry: SnapshotEntry) {
        print(entry.path) { line in
            line.add(path: entry.path)
            line.add("kind", entry.kind.rawValue)
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

    /// - Parameters:
    ///   - word: what stands before the path in a line.
    ///   - sentence: what stands behind it.
    ///   - addFields: adds the fields of a JSON object.
    mutating func print(
        word: String? = nil, _ path: [UInt8], _ sentence: String? = nil,
        addFields: (inout JSONLine) -> Void
    ) {
        switch form {
        case .json:
            var line = JSONLine.output()
            addFields(&line)
            pending += line.ended()
        case .lines:
            if let word { pending += "\(word) ".utf8 }
            append(name: path)
            if let sentence {
                pending += ": ".utf8
                append(name: Array(sentence.utf8))
            }
            pending += "\n".utf8
        case .nulEnded:
            pending += path
            pending.append(0)
        }
        if pending.count > 32768 { flush() }
    }

    private mutating func append(name: [UInt8]) {
        name.withUnsafeBufferPointer { NameEscaping.append($0, to: &pending) }
    }

    mutating func flush() {
        StandardOutput.shared.write(pending)
        pending.removeAll(keepingCapacity: true)
    }
}

/// The facts that `show` prints about a snapshot as a whole.
private struct SnapshotFacts {
    private let snapshot: Snapshot
    private var record: SnapshotRecord?
    private var holds: [HeldPart] = []
    private var lacks: [[UInt8]] = []

    init(
        _ snapshot: Snapshot, among list: SnapshotList, _ engine: Restic
    ) async throws(BackupError) {
        self.snapshot = snapshot
        do throws(BackupError) {
            record = try await engine.record(of: snapshot)
            lacks = try await engine.lacks(of: snapshot)
            holds = try await engine.heldSnapshots(by: snapshot, among: list)
        } catch  where error.code == .noRecord {
            // Another program or an older version made the snapshot: only the engine's facts are shown.
        }
    }

    private var kept: [KeptFile] { record?.kept ?? [] }

    private var evictedFiles: Int { record?.exclusions.count(where: \.isEvicted) ?? 0 }

    func print(asJSON isJSON: Bool) { printResult(asJSON: isJSON, addFields, text: writeText) }

    private func addFields(to line: inout JSONLine) {
        line.add(snapshot)
        line.add("lacks", paths: lacks)
        line.add("evictedItems", evictedFiles)
        line.add("kept", objects: kept) { file, object in
            object.add(path: file.path)
            object.add("size", file.size)
            object.add("sha256", file.content?.hexadecimal)
        }
        let stored = kept.isEmpty ? record : nil
        line.add("items", stored?.amount.items)
        line.add("bytes", stored?.amount.bytes)
        line.add("excludedItems", stored?.exclusions.count)
        line.add("sources", objects: snapshot.sources) { source, object in
            object.add(path: source.bytes)
            let known = record?.sources.first { $0.path == source.bytes }
            object.add("filesystem", known?.filesystem)
            object.add("isEmpty", known?.isEmpty)
        }
        line.add(holds: holds)
    }

    private func writeText(to buffer: inout OutputBuffer) {
        write("snapshot", snapshot.identifier, to: &buffer)
        write("made", "\(snapshot.time.localText)", to: &buffer)
        write("by", "\(snapshot.userName) on \(snapshot.hostName)", to: &buffer)
        for source in snapshot.sources {
            buffer.append("source:   ")
            buffer.append(path: source)
            if let known = record?.sources.first(where: { $0.path == source.bytes }) {
                if !known.filesystem.isEmpty {
                    buffer.append(" on ")
                    buffer.append(name: Array(known.filesystem.utf8))
                }
                if known.isEmpty { buffer.append(", empty") }
            }
            buffer.append("\n")
        }
        for tag in snapshot.tags { write("tag", tag, to: &buffer) }
        if !kept.isEmpty {
            let bytes = kept.reduce(Int64(0)) { $0.addingSaturating($1.size) }
            let files = counted(kept.count, "evicted file")
            write("keeps", "\(files), \(sizeText(bytes))", to: &buffer)
        } else if let record {
            let items = counted(record.amount.items, "item")
            write("contains", "\(items), \(sizeText(record.amount.bytes))", to: &buffer)
            if evictedFiles > 0 {
                write(
                    "evicted",
                    "\(counted(evictedFiles, "file")) in other snapshots (list: --excluded)",
                    to: &buffer)
            }
            let excluded = counted(record.exclusions.count, "item")
            write("excluded", "\(excluded) (list: --excluded)", to: &buffer)
        } else {
            let maker =
                snapshot.isPinned
                ? "an older resval-backup evicted into it" : "resval-backup did not make it"
            write("record", "none: \(maker)", to: &buffer)
        }
        writeState(to: &buffer)
    }

    private func writeState(to buffer: inout OutputBuffer) {
        if snapshot.isIncomplete { write("state", "incomplete", to: &buffer) }
        for path in lacks {
            buffer.append("lacks:    ")
            buffer.append(name: path)
            buffer.append("\n")
        }
        if snapshot.isPinned { write("state", "kept: never forgotten", to: &buffer) }
        if snapshot.isFromFuture {
            write("state", "dated in the future: never the latest", to: &buffer)
        }
        for hold in holds { buffer.append(line: "holds:    \(hold.text)") }
    }

    private func write(_ name: String, _ text: String, to buffer: inout OutputBuffer) {
        let padding = String(repeating: " ", count: max(1, 9 - name.count))
        buffer.append(text: "\(name):\(padding)")
        buffer.append(name: Array(text.utf8))
        buffer.append("\n")
    }
}
