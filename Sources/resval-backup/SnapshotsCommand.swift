import ArgumentParser
import Backups
import CommandSupport
import SystemCalls

struct SnapshotsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshots", abstract: "List the snapshots of a repository, the oldest first.",
        discussion: """
            Those made while the clock was wrong come in the order they were made. A snapshot that \
            is too damaged to know what it is of is named on standard error, and the exit code is 3.

            With PATH, only this machine's snapshots that contain the item are listed, each with how \
            much of it in place of host and SOURCEs, or with the size and the time of a file, and = \
            where these are as in the line above: excluding an item leaves it in the snapshots that \
            were made before. PATH is typed as for restore.
            """)

    @Argument(help: ArgumentHelp("The item to look for.", valueName: "path"), completion: .items)
    var path: PathArgument?

    @OptionGroup var repository: RepositoryOptions

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
    var json = false

    func run() async throws {
        let asked = try path.map { try AskedPath($0.path) }
        let (list, found) = try await repository.working("reading the repository") { engine in
            let list = try await engine.list()
            guard let asked else { return (list, [Occurrence]?.none) }
            var occurrences = try await engine.occurrences(of: asked.path.bytes, among: list)
            if occurrences.found.isEmpty, let resolved = asked.resolved {
                occurrences = try await engine.occurrences(of: resolved.bytes, among: list)
            }
            let snapshots = occurrences.found.map(\.snapshot)
            return (
                SnapshotList(snapshots, unreadable: occurrences.unreadable), occurrences.found
            )
        }
        let held = Dictionary(
            (found ?? []).map { ($0.snapshot, $0) }, uniquingKeysWith: { first, _ in first })
        var buffer = OutputBuffer()
        if json {
            for snapshot in list.snapshots { write(json: snapshot, held[snapshot], to: &buffer) }
        } else {
            writeTable(list.snapshots, held, to: &buffer)
        }
        buffer.flush()
        if let path = asked?.path {
            for snapshot in list.unreadable {
                Messages.write(about: path, "may be in a snapshot: \(snapshot.sentence)")
            }
            if list.snapshots.isEmpty, list.unreadable.isEmpty {
                Messages.write(
                    about: path,
                    Advice.completed(
                        "is in no snapshot of this backup (all: resval-backup snapshots)"))
            }
        }
        if !list.unreadable.isEmpty { throw ExitCode(3) }
    }

    private func write(
        json snapshot: Snapshot, _ held: Occurrence?, to buffer: inout OutputBuffer
    ) {
        var line = JSONLine.output()
        line.add(snapshot)
        line.add("isOwn", snapshot.set != nil)
        line.add("lacks", paths: snapshot.lacks)
        line.add("sources", paths: snapshot.sources.map(\.bytes))
        if let held {
            line.add("items", held.items)
            line.add("bytes", held.bytes)
            line.add("modified", held.modified)
        }
        line.end(in: &buffer)
    }

    private func writeTable(
        _ snapshots: [Snapshot], _ held: [Snapshot: Occurrence], to buffer: inout OutputBuffer
    ) {
        guard !snapshots.isEmpty else { return }
        let hostWidth = max(4, snapshots.map(\.hostName.count).max() ?? 0)
        buffer.append(text: "\(padded("ID", 8))  \(padded("TIME", 25))  ")
        // Those of an item are all of this machine.
        buffer.append(text: held.isEmpty ? "\(padded("HOST", hostWidth))  SOURCES\n" : "ITEM\n")
        var last: Occurrence?
        for snapshot in snapshots {
            let time = padded(snapshot.time.localText, 25)
            buffer.append(text: "\(snapshot.shortIdentifier)  \(time)  ")
            if held.isEmpty {
                buffer.append(name: Array(padded(snapshot.hostName, hostWidth).utf8))
                buffer.append("  ")
                for (index, source) in snapshot.sources.enumerated() {
                    if index > 0 { buffer.append(", ") }
                    buffer.append(name: source.bytes)
                }
            } else if let held = held[snapshot] {
                buffer.append(text: held.modified == nil ? "\(counted(held.items, "item")), " : "")
                buffer.append(text: sizeText(held.bytes))
                if let modified = held.modified {
                    buffer.append(text: ", \(modified.localMinute)")
                    let isEqual = last?.bytes == held.bytes && last?.modified == modified
                    buffer.append(text: isEqual ? "  =" : "")
                }
                last = held
            }
            if snapshot.isIncomplete {
                buffer.append("  (incomplete")
                for (index, path) in snapshot.lacks.prefix(3).enumerated() {
                    buffer.append(text: index == 0 ? ": lacks " : ", ")
                    buffer.append(name: path)
                }
                if snapshot.lacks.count > 3 {
                    buffer.append(text: " and \(snapshot.lacks.count - 3) more")
                }
                buffer.append(")")
            }
            if snapshot.isPinned { buffer.append("  keeps evicted files") }
            for tag in snapshot.tags {
                buffer.append("  #")
                buffer.append(name: Array(tag.utf8))
            }
            if snapshot.isFromFuture { buffer.append("  (dated in the future)") }
            buffer.append("\n")
            buffer.endRecord()
        }
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension JSONLine {
    /// Adds the fields that a snapshot has in every command.
    mutating func add(_ snapshot: Snapshot) {
        add("snapshot", snapshot.identifier)
        add("time", snapshot.time)
        add("hostName", snapshot.hostName)
        add("userName", snapshot.userName)
        add("tags", strings: snapshot.tags)
        add("isFromFuture", snapshot.isFromFuture)
        add("isPinned", snapshot.isPinned)
        add("isComplete", !snapshot.isIncomplete)
    }
}
